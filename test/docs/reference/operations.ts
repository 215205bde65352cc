import { createClient } from '../../../src/doors/client/index.ts';
import { toSnakeCase } from '../../../src/base/common/case.ts';
import { argumentsOf, type Noun, type Operation } from '../../../src/base/operations/operation.ts';
import { databaseFunctions } from '../../../src/database/store/functions.ts';
import { nouns } from '../../../src/server/declared/nouns.ts';
import { code, sentence } from './markdown.ts';

/** An operation with the names that it has in the library, over HTTP, in the client and in SQL. */
interface Row {
  title: string;
  operation: Operation;
  library: string | undefined;
  client: string | undefined;
  sql: string | undefined;
}

const client = createClient({ url: 'http://localhost' }) as unknown as Record<string, Record<string, unknown>>;

function rowsOf({ part, operations, requests }: Noun): Row[] {
  const place = part === 'library' ? '' : `${part}.`;
  const methods = Object.entries(operations).map(([name, operation]) => ({
    title: `${place}${name}`,
    operation,
    library: `lanefold.${place}${name}(${operation.byHand ? '…' : signature(operation)})`,
    client: typeof client[part]?.[name] === 'function' ? `client.${place}${name}` : undefined,
    sql: functionOf(operation),
  }));
  const others = Object.values(requests).map((operation) => ({
    title: operation.id,
    operation,
    library: undefined,
    client: undefined,
    sql: functionOf(operation),
  }));
  return [...methods, ...others];
}

const signature = (operation: Operation): string =>
  argumentsOf(operation)
    .map(({ kind, name }) => (kind === 'options' ? `${name}?` : name))
    .join(', ');

/** The function of the database that audits it, or that has its name. */
function functionOf({ id, audit }: Operation): string | undefined {
  const [name = ''] = audit === undefined || audit === 'here' ? [toSnakeCase(id)] : [audit].flat();
  return name in databaseFunctions ? `lanefold.${name}` : undefined;
}

/** The codes of errors that each operation may answer with, beside those of every operation. */
export const operationsByError = (): Map<string, string[]> => {
  const found = new Map<string, string[]>();
  for (const { title, operation } of nouns.flatMap(rowsOf))
    for (const each of operation.errors ?? []) found.set(each, [...(found.get(each) ?? []), title]);
  return found;
};

/** Who may call an operation over HTTP. */
const keyOf = ({ scope = 'admin', everywhere }: Operation): string =>
  `a key with the scope ${code(scope)}${everywhere ? ' that is bound to no tenant' : ''}`;

/** What the API says of it in two texts, else what the library says in one. */
const told = ({ summary, description, doc }: Operation): string =>
  (description === undefined ? [doc ?? summary] : [summary, description])
    .map((text) => sentence(text.split('@example')[0]!.trim().replaceAll('<', '\\<')))
    .join(' ');

function section({ title, operation, library, client, sql }: Row): string {
  const { route, errors = [] } = operation;
  const facts = [
    ['Library', library && code(library)],
    ['HTTP', route && `${code(route)}, with ${keyOf(operation)}`],
    ['Client', client && code(client)],
    ['SQL', sql && code(sql)],
    ['Errors', errors.length > 0 ? errors.map(code).join(', ') : undefined],
  ].filter(([, value]) => value !== undefined);
  return [`### ${code(title)}`, told(operation), facts.map(([name, value]) => `- ${name}: ${value}`).join('\n')].join(
    '\n\n',
  );
}

/** The part of docs/reference/operations.md. */
export function operationParts(): Record<string, string> {
  const parts = nouns.map((noun) => {
    const title = noun.part === 'library' ? 'lanefold' : noun.part;
    return [`## ${code(title)}`, ...rowsOf(noun).map(section)].join('\n\n');
  });
  return { operations: parts.join('\n\n') };
}
