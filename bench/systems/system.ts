/** One of the compared systems, open in this process and ready to execute runs. */
export interface System {
  /** Executes one run and resolves when it has ended well. May be called many times at once. */
  run(): Promise<void>;
  close(): Promise<void>;
  /** Statements sent to PostgreSQL so far, by name. */
  statements?: Record<string, number>;
  /** Time from the request to the first model call of each run so far, in milliseconds; right only for one run at a time. */
  firstCallsMs?: number[];
}

export interface SystemOptions {
  /** An empty database, or the one an earlier process of the same system used. */
  databaseUrl: string;
  redisUrl: string | null;
  /** Maximum number of concurrent runs. */
  concurrency: number;
}

/** What a module of a system exports. */
export interface SystemModule {
  open(options: SystemOptions): Promise<System>;
}
