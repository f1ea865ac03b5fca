"""What every capability stands on: settings, database, named SQL, money, clock, errors, secrets."""
