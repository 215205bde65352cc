import type { DatabaseNode } from '../postgres/node-guard.ts';
import type { Lending } from './lending.ts';
import { nameOf } from './placements.ts';

/** Pauses between questions to a node that is down, in ms. */
const firstPauseMs = 500;
const longestPauseMs = 5_000;

export interface NodeQuestions {
  /** Whether a node answers; undefined if the coordinator does not. Never rejects. */
  ask(node: { host: string; port: number }): Promise<boolean | undefined>;
  /** Called when a node stops answering, and when it answers again. */
  onChange(node: DatabaseNode): void;
}

/**
 * A node, and whether it answers: a circuit breaker. A statement that waits for long makes it suspect. Only if it does
 * not answer a question either is it down: statements may also wait for locks. It is asked again until it answers.
 */
export class WatchedNode implements DatabaseNode {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** The statements that it has not answered. */
  readonly sent = new Set<Lending>();
  #downSince: number | undefined;
  #asking = false;
  #closed = false;

  constructor(
    { host, port }: { host: string; port: number },
    private readonly questions: NodeQuestions,
  ) {
    this.name = nameOf({ host, port });
    this.host = host;
    this.port = port;
  }

  get isDown(): boolean {
    return this.#downSince !== undefined;
  }

  /** In ms; 0 if it is not down. */
  get downMs(): number {
    return this.#downSince === undefined ? 0 : performance.now() - this.#downSince;
  }

  /** Asks the node, unless that is happening already. */
  suspect(): void {
    if (this.#asking || this.#closed) return;
    this.#asking = true;
    void this.#ask().finally(() => (this.#asking = false));
  }

  close(): void {
    this.#closed = true;
  }

  async #ask(): Promise<void> {
    if ((await this.questions.ask(this)) !== false || this.#closed) return;
    this.#downSince = performance.now();
    for (const statement of this.sent) statement.cut();
    this.questions.onChange(this);
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      if (this.#closed) return;
      if (await this.questions.ask(this)) break;
    }
    this.#downSince = undefined;
    this.questions.onChange(this);
  }
}
