// The configuration of drizzle-kit, which generates and applies migrations.

export default {
  dialect: 'postgresql',
  schema: './schema.mjs',
  out: './migrations',
  dbCredentials: { url: process.env.DATABASE_URL },
  // The tables of the leases are in the same database, and are not a part of the schema.
  tablesFilter: ['!flakeid_*'],
};
