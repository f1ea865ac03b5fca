// The receiver as one writes it by hand: compare the token, insert or ignore the event, lock the payment with
// SELECT … FOR UPDATE, confirm it, answer. All inside the request. Express and TypeORM, two processes.
require('reflect-metadata');
const cluster = require('cluster');
const crypto = require('crypto');
const express = require('express');
const { DataSource, EntitySchema } = require('typeorm');

const PAYMENTS = Number(process.env.PAYMENTS);
const key = { type: 'bigint', primary: true, generated: true };
const Event = new EntitySchema({
  name: 'Event', tableName: 'event',
  columns: { id: key, event_id: { type: String, unique: true }, type: { type: String }, payload: { type: 'jsonb' },
             processed: { type: Boolean, default: false } },
});
const Payment = new EntitySchema({
  name: 'Payment', tableName: 'payment',
  columns: { id: { type: Number, primary: true }, ref: { type: String, unique: true }, status: { type: String },
             amount: { type: 'bigint' }, wallet: { type: Number } },
});
const Entry = new EntitySchema({
  name: 'Entry', tableName: 'entry', uniques: [{ columns: ['payment_id', 'kind'] }],
  columns: { id: key, payment_id: { type: Number }, kind: { type: String }, amount: { type: 'bigint' } },
});
const Wallet = new EntitySchema({
  name: 'Wallet', tableName: 'wallet',
  columns: { id: { type: Number, primary: true }, balance: { type: 'bigint', default: 0 } },
});
const db = new DataSource({
  type: 'postgres', host: process.env.PGHOST, username: 'postgres', database: process.env.PGDATABASE,
  entities: [Event, Payment, Entry, Wallet], synchronize: false, poolSize: 8,
});

async function prepare() {
  await db.initialize();
  await db.synchronize(true);
  await db.query('INSERT INTO wallet SELECT n, 0 FROM generate_series(1, 10000) n');
  await db.query(`INSERT INTO payment SELECT n, 'pay_' || n, 'pending', 4990, 1 + n % 10000
                  FROM generate_series(1, ${PAYMENTS}) n`);
  await db.query('ANALYZE');
  await db.destroy();
}

async function confirm(manager, event) {
  const payment = await manager.findOne(Payment, { where: { ref: event.payment.id }, lock: { mode: 'pessimistic_write' } });
  if (!payment) return;
  if (payment.status !== 'paid') {
    payment.status = 'paid';
    await manager.save(Payment, payment);
    await manager.insert(Entry, { payment_id: payment.id, kind: 'sale', amount: payment.amount });
    await manager.increment(Wallet, { id: payment.wallet }, 'balance', payment.amount);
  }
  await manager.update(Event, { event_id: event.id }, { processed: true });
}

async function serve() {
  await db.initialize();
  const token = Buffer.from(process.env.TOKEN);
  const app = express();
  app.use(express.json());
  app.post('/hook', async (req, res) => {
    try {
      const given = Buffer.from(req.get('asaas-access-token') || '');
      if (given.length !== token.length || !crypto.timingSafeEqual(given, token)) return res.sendStatus(401);
      const event = req.body;
      await db.getRepository(Event).createQueryBuilder().insert()
        .values({ event_id: event.id, type: event.event, payload: event }).orIgnore().execute();
      await db.transaction((manager) => confirm(manager, event));
      res.json({ received: true });
    } catch (error) {
      console.error(error.message);
      res.sendStatus(500);
    }
  });
  app.listen(Number(process.env.PORT), '127.0.0.1');
}

if (cluster.isPrimary) {
  prepare().then(() => { cluster.fork(); cluster.fork(); });
  process.on('SIGTERM', () => { for (const one of Object.values(cluster.workers)) one.kill('SIGKILL'); process.exit(0); });
} else {
  serve();
}
