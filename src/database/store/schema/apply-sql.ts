import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import { minCompatibleVersion, schemaVersion } from '../../../../db/schema/version.ts';
import { packageRoot } from '../../../base/common/package-root.ts';

/** A semicolon, or text in which one ends no statement: a comment, a string, a body in dollar quotes. */
// eslint-disable-next-line regexp/no-super-linear-move -- reads the SQL of the package
const token = /--.*$|'(?:[^']|'')*'|(\$\w*\$)[\s\S]*?\1|;/gm;

/** The statements of a file of SQL, as written, each with the comment before it. */
function statements(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  for (const { 0: match, index } of text.matchAll(token)) {
    if (match !== ';') continue;
    found.push(text.slice(start, index + 1).trim());
    start = index + 1;
  }
  return found;
}

/**
 * The files of db/sql in an order that works: views over the tables, functions that may return rows of a view,
 * triggers, comments, then policies, owner and grants, which cover all of these. Functions may call each other, so
 * their bodies are checked only at first use, when all functions exist.
 */
function sqlFiles(): string[] {
  const root = path.join(packageRoot, 'db/sql');
  const rooms = readdirSync(root, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
  const nouns = rooms.filter((room) => room !== 'views' && room !== 'triggers').sort();
  const files = ['views', ...nouns, 'triggers'].flatMap((room) =>
    readdirSync(path.join(root, room))
      .filter((file) => file.endsWith('.sql'))
      .sort()
      .map((file) => path.join(root, room, file)),
  );
  return [...files, ...['comments.sql', 'tenants.sql', 'owner.sql', 'grants.sql'].map((file) => path.join(root, file))];
}

/** Applies db/sql in one transaction, unless the database has this text already. Returns whether it did. */
export async function applySql(client: pg.Client): Promise<boolean> {
  const texts = sqlFiles().map((file) => readFileSync(file, 'utf8'));
  const versions = `
    create or replace function lanefold.schema_version() returns int language sql immutable as 'select ${schemaVersion}';
    create or replace function lanefold.min_compatible_version() returns int language sql immutable as 'select ${minCompatibleVersion}';`;
  const hash = createHash('sha256').update(versions).update(texts.join('\n')).digest('hex');
  // a backup restored without its owners belongs to a superuser, whom no policy binds
  const known = await client.query(
    `select obj_description(to_regproc('lanefold._lock_thread')::oid, 'pg_proc') as hash,
       current_setting('is_superuser') = 'on' and exists (select from pg_namespace n join pg_roles r on r.oid = n.nspowner
         where n.nspname = 'lanefold' and (r.rolsuper or r.rolbypassrls)) as unprotected`,
  );
  if (known.rows[0]?.hash === hash && !known.rows[0].unprotected) return false;
  await client.query('begin; set local check_function_bodies = off');
  // one by one: a distributed database sends each to its nodes as it is written
  for (const statement of [versions, ...texts].flatMap(statements)) await client.query(statement);
  await client.query(`comment on function lanefold._lock_thread(text) is '${hash}'; commit`);
  return true;
}
