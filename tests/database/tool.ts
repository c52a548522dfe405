/** The migrations of the apps of these tests. */

const CLIENT = `const { execFileSync } = require('node:child_process');
const { readdirSync, readFileSync } = require('node:fs');
console.log('migrating ' + process.env.DATABASE_URL);
const isFile = process.env.DATABASE_URL.startsWith('file:');
const url = new URL(process.env.DATABASE_URL.replace('mysql+pymysql', 'mysql'));
const [user, password, name] = [url.username, url.password, url.pathname.slice(1)].map(decodeURIComponent);
const isPostgres = url.protocol.startsWith('postgres');
const env = { ...process.env, PGPASSWORD: password, MYSQL_PWD: password };
const args = isPostgres
  ? ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-h', url.hostname, '-p', url.port, '-U', user, '-d', name]
  : ['--no-defaults', '-N', '-B', '--protocol=tcp', '-h', url.hostname, '-P', url.port, '-u', user, name];
const program = isFile ? 'sqlite3' : isPostgres ? 'psql' : 'mysql';
const words = isFile ? ['-bail', url.pathname] : args;
const sql = (input) => execFileSync(program, words, { env, input, encoding: 'utf8' }).trim();
`;

/** What a small tool for migrations does on each of the databases; it prints the URL as such tools do. */
export const TOOL = `${CLIENT}sql('create table if not exists schema_migrations(version varchar(20))');
for (const file of readdirSync('migrations').sort()) {
  if (sql("select 1 from schema_migrations where version = '" + file + "'") === '1') continue;
  sql(readFileSync('migrations/' + file, 'utf8'));
  sql("insert into schema_migrations values ('" + file + "')");
}
`;

/** Tries the app: it writes. */
export const CHECK = `${CLIENT}sql('insert into orders(id, total) values (1000, 1)');
`;
