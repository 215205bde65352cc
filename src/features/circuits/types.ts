// Generated from declaration.ts beside it: run `npm run types:api`.

/** Why the circuit of a model is opened by hand, and until when. */
export interface CircuitOpening {
  /** Why, for the audit and for people who ask why runs wait. */
  reason: string;
  /** When a call may probe; default: not before it is closed by hand. */
  until?: Date;
}

/** The circuit of a model: whether workers call it, and what they counted. */
export interface ListedCircuit {
  /** The model, as `provider:model`. */
  model: string;
  /** `closed`: calls are made; `open`: they are held back; `half_open`: one of them probes. */
  state: 'closed' | 'open' | 'half_open';
  /** Calls of the window that were answered or say that the provider fails. */
  calls: number;
  /** Calls of the window that say that the provider fails. */
  failed: number;
  /**
   * Why calls are held back: `overloaded`, `rate_limited`, `timeout`, `connection`, `auth`, or what the operator
   * said.
   */
  reason: string | null;
  /** Since when calls are held back. */
  openedAt: Date | null;
  /** When a call may probe; null while it is open: not before it is closed by hand. */
  openUntil: Date | null;
  /** Who opened it by hand; null: the workers. */
  openedBy: string | null;
  /** When a worker last counted, or when it last changed. */
  updatedAt: Date;
}

export interface Circuits {
  /** List the circuits of models. A model has one once a worker has called it. */
  list(): Promise<ListedCircuit[]>;
  /**
   * Opens the circuit of a model by hand: no worker calls the model, and runs that would call it wait.
   *
   * @example
   * await lanefold.circuits.open('openai:gpt-5', { reason: 'maintenance' });
   *
   * @throws LanefoldError `invalid_input`
   */
  open(
    model: string,
    opening: CircuitOpening,
    options?: {
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedCircuit>;
  /**
   * Close the circuit of a model by hand. Its calls are made again and counted afresh, and the runs that waited
   * continue.
   *
   * @throws LanefoldError `circuit_not_found`
   */
  close(
    model: string,
    options?: {
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedCircuit>;
}
