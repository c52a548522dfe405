/** The statements that read a catalogue. Columns: kind, owner, name, text, not null, default, made. */

const IS_OURS = `nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('information_schema', 'runner_rehearsal')`;

/** PostgreSQL. `q` is a name without `public.`; what belongs to an extension is left out. */
const POSTGRES = `
WITH ns AS (SELECT oid, CASE nspname WHEN 'public' THEN '' ELSE nspname || '.' END AS q
  FROM pg_namespace WHERE ${IS_OURS}),
ext AS (SELECT objid FROM pg_depend WHERE deptype = 'e'),
rel AS (SELECT c.*, q || relname AS full_name FROM pg_class c JOIN ns ON ns.oid = relnamespace
  WHERE c.oid NOT IN (SELECT objid FROM ext)),
typ AS (SELECT t.*, q || typname AS full_name FROM pg_type t JOIN ns ON ns.oid = typnamespace)
SELECT CASE WHEN relkind IN ('v', 'm') THEN 'view' WHEN relkind = 'c' THEN 'type' ELSE 'table' END, '',
  full_name, CASE WHEN relkind IN ('v', 'm') THEN md5(concat_ws(' ', pg_get_viewdef(oid), relkind, relispopulated,
  reloptions)) ELSE concat_ws(' ', relkind, relpersistence, relrowsecurity, relforcerowsecurity, relowner,
  'part of ' || (SELECT string_agg(inhparent::regclass::text, ', ' ORDER BY inhparent) FROM pg_inherits
    WHERE inhrelid = rel.oid), pg_get_expr(relpartbound, oid)) END, 'f',
  CASE WHEN pg_table_is_visible(oid) THEN 'visible' ELSE '' END, relfilenode::text
  FROM rel WHERE relkind IN ('r', 'p', 'f', 'v', 'm', 'c')
UNION ALL SELECT 'sequence', '', full_name, concat_ws(' ', format_type(seqtypid, NULL), seqincrement, seqcycle, seqmin, seqmax),
  'f', '', '' FROM rel JOIN pg_sequence ON seqrelid = oid
  WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = rel.oid AND deptype = 'i')
UNION ALL SELECT 'counter', '', full_name, '', 'f', '', (sign(seqincrement)
  * coalesce(pg_sequence_last_value(oid), seqstart - seqincrement))::text FROM rel JOIN pg_sequence ON seqrelid = oid
  WHERE NOT seqcycle AND CASE relkind WHEN 'S' THEN has_sequence_privilege(oid, 'SELECT, USAGE') END
UNION ALL (SELECT 'column', full_name, attname, format_type(atttypid, atttypmod) || CASE WHEN attcollation
  NOT IN (0, (SELECT typcollation FROM pg_type WHERE pg_type.oid = atttypid))
  THEN ' collate ' || attcollation::regcollation ELSE '' END, attnotnull::text,
  coalesce(pg_get_expr(adbin, adrelid), ''), concat(attidentity, attgenerated)
  FROM rel JOIN pg_attribute ON attrelid = rel.oid AND attnum > 0 AND NOT attisdropped
  LEFT JOIN pg_attrdef ON adrelid = rel.oid AND adnum = attnum WHERE relkind IN ('r', 'p', 'f', 'v', 'm', 'c')
  ORDER BY attrelid, attnum)
UNION ALL SELECT CASE contype WHEN 'c' THEN 'check' WHEN 'f' THEN 'foreign key' WHEN 'p' THEN 'primary key'
  WHEN 'u' THEN 'unique' ELSE 'exclusion' END, coalesce(rel.full_name, typ.full_name), conname,
  pg_get_constraintdef(pg_constraint.oid), 'f', '', ''
  FROM pg_constraint LEFT JOIN rel ON rel.oid = conrelid LEFT JOIN typ ON typ.oid = contypid
  WHERE contype IN ('c', 'f', 'p', 'u', 'x') AND coalesce(rel.full_name, typ.full_name) IS NOT NULL
UNION ALL SELECT CASE WHEN indisunique THEN 'unique' ELSE 'index' END, r.full_name, i.relname,
  regexp_replace(pg_get_indexdef(i.oid), '^.*? USING ', ''), 'f', '', ''
  FROM pg_index JOIN rel r ON r.oid = indrelid JOIN pg_class i ON i.oid = indexrelid
  WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.oid AND conrelid = r.oid)
UNION ALL SELECT 'enum value', full_name, enumlabel, enumsortorder::text, 'f', '', ''
  FROM pg_enum JOIN typ ON typ.oid = enumtypid
UNION ALL SELECT 'type', '', full_name, concat_ws(' ', format_type(typbasetype, typtypmod),
  CASE WHEN typnotnull THEN 'NOT NULL' END, 'DEFAULT ' || typdefault), 'f', '', ''
  FROM typ WHERE typtype = 'd'
UNION ALL SELECT 'trigger', full_name, tgname, md5(pg_get_triggerdef(t.oid) || tgenabled::text), 'f', '', ''
  FROM pg_trigger t JOIN rel ON rel.oid = tgrelid JOIN pg_proc p ON p.oid = tgfoid
  JOIN ns ON ns.oid = pronamespace WHERE NOT tgisinternal
UNION ALL SELECT 'policy', full_name, polname, concat_ws(' ', polcmd, polpermissive, polroles,
  pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)), 'f', '', ''
  FROM pg_policy JOIN rel ON rel.oid = polrelid
UNION ALL SELECT 'trigger', full_name, rulename, md5(pg_get_ruledef(w.oid)), 'f', '', ''
  FROM pg_rewrite w JOIN rel ON rel.oid = ev_class WHERE rulename <> '_RETURN'
UNION ALL SELECT 'function', '', q || proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
  md5(CASE WHEN prokind = 'a' THEN 'aggregate' ELSE pg_get_functiondef(p.oid) END), 'f', '', ''
  FROM pg_proc p JOIN ns ON ns.oid = pronamespace WHERE p.oid NOT IN (SELECT objid FROM ext)
UNION ALL SELECT 'operator', '', oprname || concat_ws(' ', '', nullif(oprleft, 0)::regtype, oprright::regtype),
  oprcode::text, 'f', '', '' FROM pg_operator o JOIN ns ON ns.oid = oprnamespace
  WHERE o.oid NOT IN (SELECT objid FROM ext)
UNION ALL SELECT 'extension', '', extname, extversion || ' in ' || extnamespace::regnamespace, 'f', '', ''
  FROM pg_extension
UNION ALL SELECT 'setting', '', concat_ws(' of ', split_part(setting, '=', 1), nullif(setrole, 0)::regrole),
  md5(setting), 'f', '', '' FROM pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase,
  unnest(setconfig) AS setting WHERE datname = current_database()
UNION ALL SELECT 'schema', '', nspname, '', 'f', '', '' FROM pg_namespace WHERE ${IS_OURS}
UNION ALL SELECT 'right', owner, concat_ws(' ', privilege_type, part, 'of', CASE grantee WHEN 0 THEN 'PUBLIC'
  ELSE grantee::regrole::text END), '', 'f', '', '' FROM (
  SELECT full_name AS owner, NULL AS part, coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r'
    END::"char", relowner)) AS acl FROM rel WHERE relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
  UNION ALL SELECT full_name, '(' || attname || ')', attacl FROM rel JOIN pg_attribute ON attrelid = rel.oid
  UNION ALL SELECT q || proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', NULL,
    coalesce(proacl, acldefault('f', proowner)) FROM pg_proc p JOIN ns ON ns.oid = pronamespace
  UNION ALL SELECT nspname, NULL, coalesce(nspacl, acldefault('n', nspowner)) FROM pg_namespace WHERE ${IS_OURS}
  ) granted, aclexplode(acl)`;

const OF_SCHEMA = (schema: string) => `${schema} = DATABASE()`;

/** MySQL and MariaDB, which differ in checks and in the hash of a text, here in braces: catalogue.ts. */
const MYSQL = `
SET SESSION group_concat_max_len = 65536;
SELECT IF(TABLE_TYPE = 'VIEW', 'view', IF(TABLE_TYPE = 'SEQUENCE', 'sequence', 'table')), '', TABLE_NAME,
  IF(TABLE_TYPE = 'VIEW', '', CONCAT(COALESCE(ENGINE, ''), IF(TABLE_TYPE = 'SYSTEM VERSIONED', ' versioned', ''),
  IF(CREATE_OPTIONS LIKE '%partitioned%', ' partitioned', ''))), 'f', '', ''
  FROM information_schema.TABLES WHERE ${OF_SCHEMA('TABLE_SCHEMA')}
UNION ALL (SELECT 'column', TABLE_NAME, COLUMN_NAME, CONCAT(COLUMN_TYPE, IF(COLLATION_NAME IS NULL, '',
  CONCAT(' collate ', COLLATION_NAME))), IF(IS_NULLABLE = 'NO', 't', 'f'),
  CONCAT(IF(COALESCE(COLUMN_DEFAULT, 'NULL') = 'NULL', '', CONCAT('= ', COLUMN_DEFAULT)),
  COALESCE(GENERATION_EXPRESSION, '')),
  REPLACE(EXTRA, 'DEFAULT_GENERATED', '') FROM information_schema.COLUMNS WHERE ${OF_SCHEMA('TABLE_SCHEMA')}
  ORDER BY TABLE_NAME, ORDINAL_POSITION LIMIT 1000000)
UNION ALL SELECT 'view text', TABLE_NAME, '', {CONCAT_WS(' ', REPLACE(VIEW_DEFINITION, CONCAT('\`', DATABASE(),
  '\`.'), ''), CHECK_OPTION, SECURITY_TYPE)},
  'f', '', '' FROM information_schema.VIEWS WHERE ${OF_SCHEMA('TABLE_SCHEMA')}
UNION ALL SELECT IF(INDEX_NAME = 'PRIMARY', 'primary key', IF(NON_UNIQUE, 'index', 'unique')), TABLE_NAME,
  INDEX_NAME, CONCAT('(', GROUP_CONCAT(CONCAT(COLUMN_NAME, IF(SUB_PART IS NULL, '', CONCAT('[', SUB_PART, ']')))
  ORDER BY SEQ_IN_INDEX SEPARATOR ', '), ')', IF(MAX(INDEX_TYPE) IN ('FULLTEXT', 'SPATIAL'), MAX(INDEX_TYPE), '')), 'f', '', 'hint' FROM information_schema.STATISTICS
  WHERE ${OF_SCHEMA('TABLE_SCHEMA')} GROUP BY TABLE_NAME, INDEX_NAME, NON_UNIQUE
UNION ALL SELECT 'foreign key', k.TABLE_NAME, k.CONSTRAINT_NAME, CONCAT('FOREIGN KEY (', GROUP_CONCAT(COLUMN_NAME
  ORDER BY ORDINAL_POSITION SEPARATOR ', '), ') REFERENCES ', MAX(k.REFERENCED_TABLE_NAME), '(',
  GROUP_CONCAT(REFERENCED_COLUMN_NAME ORDER BY ORDINAL_POSITION), ') ON DELETE ', MAX(DELETE_RULE),
  ' ON UPDATE ', MAX(UPDATE_RULE)), 'f', '', '' FROM information_schema.KEY_COLUMN_USAGE k
  JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA
  AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
  WHERE ${OF_SCHEMA('k.TABLE_SCHEMA')} GROUP BY k.TABLE_NAME, k.CONSTRAINT_NAME
UNION ALL SELECT 'check', TABLE_NAME, t.CONSTRAINT_NAME, CONCAT('CHECK ', CHECK_CLAUSE), 'f', '', ''
  FROM information_schema.TABLE_CONSTRAINTS t JOIN information_schema.CHECK_CONSTRAINTS c
  USING (CONSTRAINT_SCHEMA, CONSTRAINT_NAME /*TABLE*/)
  WHERE ${OF_SCHEMA('CONSTRAINT_SCHEMA')} AND CONSTRAINT_TYPE = 'CHECK'
UNION ALL SELECT 'trigger', EVENT_OBJECT_TABLE, TRIGGER_NAME, {CONCAT(ACTION_TIMING, EVENT_MANIPULATION,
  ACTION_STATEMENT)}, 'f', '', '' FROM information_schema.TRIGGERS WHERE ${OF_SCHEMA('TRIGGER_SCHEMA')}
UNION ALL SELECT 'event', '', EVENT_NAME, {CONCAT_WS(' ', EVENT_DEFINITION, INTERVAL_VALUE, INTERVAL_FIELD, EXECUTE_AT,
  STATUS)}, 'f', '', '' FROM information_schema.EVENTS WHERE ${OF_SCHEMA('EVENT_SCHEMA')}
UNION ALL SELECT 'function', '', ROUTINE_NAME, {CONCAT_WS(' ', ROUTINE_TYPE, DTD_IDENTIFIER, ROUTINE_DEFINITION,
  SECURITY_TYPE, parameters)}, 'f', '', '' FROM information_schema.ROUTINES r LEFT JOIN (SELECT SPECIFIC_NAME AS of_name,
  ROUTINE_TYPE AS of_type, GROUP_CONCAT(PARAMETER_MODE, PARAMETER_NAME, DTD_IDENTIFIER ORDER BY ORDINAL_POSITION) AS parameters
  FROM information_schema.PARAMETERS WHERE ${OF_SCHEMA('SPECIFIC_SCHEMA')} GROUP BY SPECIFIC_NAME, ROUTINE_TYPE) p
  ON of_name = SPECIFIC_NAME AND of_type = ROUTINE_TYPE WHERE ${OF_SCHEMA('ROUTINE_SCHEMA')}`;

const TABLES = `sqlite_schema s JOIN pragma_table_list l ON l.name = s.name AND l.schema = 'main'
  WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;
const of = (pragma: string) => TABLES.replace(' WHERE', ` JOIN pragma_${pragma}(s.name) p WHERE`);

/** SQLite. Checks, collations and the like are only in the text of a table: catalogue.ts. */
const SQLITE = `
SELECT s.type, '', s.name, CASE s.type WHEN 'view' THEN s.sql ELSE l.wr || ' ' || l.strict END, 'f', '', ''
  FROM ${TABLES}
UNION ALL SELECT 'column', s.name, p.name, lower(p.type), CASE WHEN p."notnull" AND NOT (p.pk AND
  p.type LIKE 'integer') THEN 't' ELSE 'f' END, coalesce(p.dflt_value, ''),
  CASE WHEN p.hidden > 1 THEN 's' ELSE '' END FROM ${of('table_xinfo')}
UNION ALL SELECT 'primary key', s.name, '', 'PRIMARY KEY (' || group_concat(p.name, ', ') || ')', 'f', '', ''
  FROM ${of('table_xinfo')} AND p.pk GROUP BY s.name
UNION ALL SELECT CASE WHEN p."unique" THEN 'unique' ELSE 'index' END, s.name, CASE p.origin WHEN 'c' THEN p.name
  ELSE '' END, '(' || (SELECT group_concat(coalesce(name, '?') || CASE coll WHEN 'BINARY' THEN '' ELSE ' collate ' || lower(coll) END, ', ')
  FROM pragma_index_xinfo(p.name) WHERE "key") || ')' || coalesce(CASE WHEN p.partial OR EXISTS (SELECT 1
  FROM pragma_index_xinfo(p.name) WHERE cid = -2) THEN x.sql END, ''), 'f', '', '' FROM
  ${of('index_list').replace(' WHERE', ` LEFT JOIN sqlite_schema x ON x.type = 'index' AND x.name = p.name WHERE`)}
  AND p.origin <> 'pk'
UNION ALL SELECT 'foreign key', s.name, '', 'FOREIGN KEY (' || group_concat(p."from", ', ') || ') REFERENCES '
  || p."table" || '(' || coalesce(group_concat(p."to", ', '), '') || ') ON DELETE ' || p.on_delete
  || ' ON UPDATE ' || p.on_update, 'f', '', '' FROM ${of('foreign_key_list')} GROUP BY s.name, p.id
UNION ALL SELECT 'trigger', tbl_name, name, sql, 'f', '', '' FROM sqlite_schema WHERE type = 'trigger'
UNION ALL SELECT 'table text', s.name, '', s.sql, 'f', '', '' FROM ${TABLES} AND s.type = 'table'`;

export const CATALOGUE_SQL = { postgres: POSTGRES, mysql: MYSQL, sqlite: SQLITE };
