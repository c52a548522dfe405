/** What migrates a database, by the files of its tool, where the stack itself has nothing. */
import type { Clue } from './stack.ts';

const SQL_FILES = /^(?<dir>(?:\w+\/)?migrations)\/[^/]+\.sql$/;
const GOOSE: Clue = { path: SQL_FILES, text: /^-- \+goose Up/m };

/** A script that is for development only resets the database, or asks first. */
const DEPLOYS = /^(?!.*\bprisma (?:migrate (?:dev|reset)|db push)\b)/s;

export const MIGRATORS: readonly { readonly run: string; readonly when: readonly Clue[] }[] = [
  { run: '{run} db:migrate', when: [{ script: 'db:migrate', text: DEPLOYS }] },
  { run: '{run} migrate up', when: [{ script: 'migrate', text: /^node-pg-migrate$/ }] },
  { run: '{run} migrate', when: [{ script: 'migrate', text: DEPLOYS }] },
  { run: 'npx prisma migrate deploy', when: [{ path: 'prisma/schema.prisma' }] },
  { run: 'npx drizzle-kit migrate', when: [{ path: /^drizzle\.config\.\w{2,4}$/ }] },
  { run: 'npx knex migrate:latest --env production', when: [{ path: /^knexfile\.\w{2,4}$/ }] },
  {
    run: 'npx sequelize-cli db:migrate --env production',
    when: [{ path: /^(?:\.sequelizerc|migrations\/\d{14}-[^/]+\.c?js)$/ }],
  },
  {
    run: 'a script that runs typeorm migration:run with its data source',
    when: [{ dep: 'typeorm' }, { path: /(?:^|\/)migrations?\/\d{13}-[^/]+\.[jt]s$/ }],
  },
  { run: '.venv/bin/alembic upgrade head', when: [{ path: 'alembic.ini' }] },
  {
    run: 'a script that sets FLYWAY_URL, FLYWAY_USER and FLYWAY_PASSWORD from it and runs flyway migrate',
    when: [{ path: /^flyway\.(?:conf|toml)$|\/db\/migration\/V[^/]+\.sql$/ }],
  },
  {
    run: 'GOOSE_DRIVER=sqlite3 GOOSE_DBSTRING="${DATABASE_URL#sqlite:}" goose -dir {dir} up',
    when: [GOOSE, { path: 'go.mod', text: /modernc\.org\/sqlite|mattn\/go-sqlite3/ }],
  },
  {
    run: 'a script that sets GOOSE_DRIVER=mysql and GOOSE_DBSTRING from it and runs goose -dir {dir} up',
    when: [GOOSE, { path: 'go.mod', text: /go-sql-driver\/mysql/ }],
  },
  {
    run: 'GOOSE_DRIVER=postgres GOOSE_DBSTRING="$DATABASE_URL" goose -dir {dir} up',
    when: [GOOSE],
  },
  {
    run: 'a script that runs each file of {dir} once',
    when: [{ path: SQL_FILES }],
  },
];
