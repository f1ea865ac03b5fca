-- Pairs of events, one payment after another, each event once: an Asaas PAYMENT_CONFIRMED, then its PAYMENT_RECEIVED.
local number = tonumber(os.getenv("FIRST_PAYMENT")) * 2
local padding = string.rep("x", 500)
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["asaas-access-token"] = os.getenv("TOKEN")

function request()
  local payment, kind, status = math.floor(number / 2), "PAYMENT_CONFIRMED", "CONFIRMED"
  if number % 2 == 1 then kind, status = "PAYMENT_RECEIVED", "RECEIVED" end
  local body = string.format('{"id":"evt_%d","event":"%s","dateCreated":"2026-12-01 10:00:00","payment":{"object":"payment",' ..
    '"id":"pay_%d","dateCreated":"2026-12-01","customer":"cus_000005219613","value":49.90,"billingType":"PIX",' ..
    '"status":"%s","externalReference":"order-%d","description":"%s"}}', number, kind, payment, status, payment, padding)
  number = number + 1
  return wrk.format(nil, nil, nil, body)
end

function done(summary, latency)
  local failed = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write
    + summary.errors.timeout
  io.write(string.format('{"rate":%.1f,"p50_ms":%.3f,"p99_ms":%.3f,"requests":%d,"failed":%d}\n',
    summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    summary.requests, failed))
end
