import pg from 'pg';

/** On whose behalf statements are executed. */
export interface DatabaseScope {
  tenant: string;
  /** A role to switch to, for a session whose own role bypasses the policies. */
  role?: string;
}

export interface StatementConfig {
  text: string;
  values?: unknown[];
  name?: string;
  query_timeout?: number;
  /** How values are read; default: as `pg` does. */
  types?: pg.CustomTypesConfig;
}

interface Wire {
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  parse(message: { text: string; name?: string | undefined }): void;
  bind(message: { statement?: string | undefined; values: string[] }): void;
  execute(message: object): void;
}

/** Methods that `pg` calls on a query but that its types omit. */
interface RawQuery {
  text: string;
  name: string | undefined;
  prepare(wire: Wire): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: Wire): void;
  handleError(error: Error, wire: Wire): void;
}

const Query = pg.Query as unknown as new (config: StatementConfig & { queryMode: 'extended' }) => RawQuery;

/** A setting of a session that holds until the end of the transaction. */
export type Setting = readonly [name: string, value: string];

/**
 * For lists and sweeps: the start of parallel workers takes longer than a page of a list, and sweeps would start some to find nothing.
 * Compiling takes longer, too, and PostgreSQL compiles what it estimates to be dear, as it does what a limit cuts short.
 */
export const atOnce: readonly Setting[] = [
  ['max_parallel_workers_per_gather', '0'],
  ['jit', 'off'],
];

export const scopeSettings = (scope: DatabaseScope | undefined): Setting[] => [
  ...(scope ? [['lanefold.tenant', scope.tenant] as const] : []),
  ...(scope?.role === undefined ? [] : [['role', scope.role] as const]),
];

export function setStatement(settings: readonly Setting[]): { name: string; text: string; values: string[] } {
  const calls = settings.map((_, n) => `set_config($${2 * n + 1}, $${2 * n + 2}, true)`);
  return { name: `set_${settings.length}`, text: `select ${calls.join(', ')}`, values: settings.flat() };
}

/**
 * A statement with settings, such as the tenant it is executed for, in one round trip: both are sent before the one Sync, which
 * makes them one transaction. Nothing is left in the session, so poolers in transaction mode work as well.
 *
 * While the first is being answered, the query has its name and text, because pg tracks prepared statements that way.
 */
export class QueryWithSettings extends Query {
  readonly query_timeout: number | undefined;
  #main: { name: string | undefined; text: string } | undefined;

  constructor(
    config: StatementConfig,
    readonly settings: readonly Setting[],
  ) {
    super({ ...config, queryMode: 'extended' });
    this.query_timeout = config.query_timeout;
  }

  override prepare(wire: Wire): void {
    const { text, values, ...set } = setStatement(this.settings);
    // named only if the statement is: names break behind some poolers
    const name = this.name ? set.name : undefined;
    if (!name || !(name in wire.parsedStatements || name in wire.submittedNamedStatements)) wire.parse({ text, name });
    wire.bind({ statement: name, values });
    wire.execute({});
    super.prepare(wire);
    this.#main = { name: this.name, text: this.text };
    Object.assign(this, { name, text });
  }

  override handleDataRow(message: unknown): void {
    if (!this.#main) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (this.#main) this.#resume();
    else super.handleCommandComplete(message, wire);
  }

  override handleError(error: Error, wire: Wire): void {
    const name = this.#resume();
    if (name !== undefined) delete wire.submittedNamedStatements[name];
    super.handleError(error, wire);
  }

  #resume(): string | undefined {
    const main = this.#main;
    this.#main = undefined;
    if (main) Object.assign(this, main);
    return main?.name;
  }
}
