/** What migrates a database, by the files of its tool, where the stack itself has nothing. */
import type { Clue } from './stack.ts';

export const MIGRATORS: readonly { readonly run: string; readonly when: readonly Clue[] }[] = [
  { run: '{run} db:migrate', when: [{ script: 'db:migrate' }] },
  { run: '{run} migrate', when: [{ script: 'migrate' }] },
  { run: 'npx prisma migrate deploy', when: [{ path: 'prisma/schema.prisma' }] },
  { run: 'npx drizzle-kit migrate', when: [{ path: /^drizzle\.config\.\w{2,4}$/ }] },
  { run: 'npx knex migrate:latest', when: [{ path: /^knexfile\.\w{2,4}$/ }] },
  { run: '.venv/bin/alembic upgrade head', when: [{ path: 'alembic.ini' }] },
  { run: 'flyway migrate', when: [{ path: /^flyway\.(?:conf|toml)$/ }] },
  {
    run: 'goose -dir migrations postgres "$DATABASE_URL" up',
    when: [{ path: /^migrations\/[^/]+\.sql$/, text: /^-- \+goose Up/m }],
  },
];
