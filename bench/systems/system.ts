/** One of the compared systems, open in this process and ready to execute runs. */
export interface System {
  /**
   * Executes one run, or as many together as given; resolves when they have completed. May be called concurrently.
   * Only floors take more than one.
   */
  run(together?: number): Promise<void>;
  close(): Promise<void>;
  /** Statements sent to PostgreSQL so far, by name. */
  statements?: Record<string, number>;
  /** Time from the request to the first model call of each run so far, in milliseconds. */
  firstCallsMs?: number[];
}

export interface SystemOptions {
  /** An empty database, or the database of an earlier process of the same system. */
  databaseUrl: string;
  redisUrl: string | null;
  /** Maximum number of concurrent runs. */
  concurrency: number;
  /** The addresses of the system's own server, by name. */
  server?: Record<string, string>;
}

/** The exports of a system's module. */
export interface SystemModule {
  open(options: SystemOptions): Promise<System>;
}

/** A server that only one of the systems needs. */
export interface OwnServer {
  pid: number;
  addresses: Record<string, string>;
  stop(): Promise<void>;
}
