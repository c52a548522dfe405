/** What a rehearsal may have changed although it is on a copy: settings and roles of the whole server. */
import type { DatabaseAddress } from './address.ts';
import { query } from './query.ts';

/** Columns: what, and its value or a hash of it, which may be a secret. */
const SERVER_WIDE = {
  postgres: `
SELECT concat_ws(' ', 'the setting', split_part(setting, '=', 1), 'of role ' || nullif(setrole, 0)::regrole,
    'of database ' || datname), md5(setting)
  FROM pg_db_role_setting CROSS JOIN unnest(setconfig) AS setting LEFT JOIN pg_database d ON d.oid = setdatabase
  WHERE setdatabase = 0 OR datname = current_database()
UNION ALL SELECT 'the role ' || rolname, md5(concat_ws(' ', rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin,
    rolreplication, rolbypassrls, rolconnlimit, rolvaliduntil)) FROM pg_roles
UNION ALL SELECT concat_ws(' ', 'that', member::regrole, 'is a member of', roleid::regrole), '' FROM pg_auth_members`,
  mysql: 'SHOW GLOBAL VARIABLES',
};
/** What servers of MySQL change on their own. */
const MOVING = /^(?:gtid|wsrep|rpl|timestamp|last_)/;

/** By what it is. Throws a Failure. */
export type ServerWide = ReadonlyMap<string, string>;

export async function lookAtServer(address: DatabaseAddress): Promise<ServerWide> {
  const { kind } = address;
  const rows = kind === 'sqlite' ? [] : await query(address, SERVER_WIDE[kind]);
  const all = rows.map(([what = '', value = '']) => [what, value] as const);
  if (kind === 'postgres') return new Map(all);
  return new Map(
    all
      .filter(([name]) => !MOVING.test(name))
      .map(([name, value]) => [`the variable ${name}`, value]),
  );
}

/** What differs, in words. */
export function serverChanges(before: ServerWide, after: ServerWide): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (what) => before.get(what) !== after.get(what),
  );
}
