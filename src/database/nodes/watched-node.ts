import type { DatabaseNode } from '../postgres/node-guard.ts';
import { nameOf, type Lending } from './placements.ts';
import { delay } from '../../base/common/timer.ts';

/** Pauses between questions to a node that is down, in ms. */
const firstPauseMs = 500;
const longestPauseMs = 5_000;

/** `refuses`: it takes no connections, and says so at once, as a server that is not running. */
export type NodeAnswer = 'answers' | 'refuses' | 'silent';

export interface NodeQuestions {
  /** Whether a node answers; undefined if the coordinator does not. Never rejects. */
  ask(node: { host: string; port: number }): Promise<NodeAnswer | undefined>;
  /** Called when a node stops answering, and when it answers again. */
  onChange(node: DatabaseNode): void;
}

/**
 * A node, and whether it answers: a circuit breaker. A statement that waits for long makes it suspect. Only if it does
 * not answer a question either is it down: statements may also wait for locks. It is asked again until it answers. The
 * circuit opens for a node that is silent; one that refuses connections costs no time.
 */
export class WatchedNode implements DatabaseNode {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** The statements that it has not answered. */
  readonly sent = new Set<Lending>();
  #downSince: number | undefined;
  /** It is down, and statements would wait for it: its circuit is open. */
  isSilent = false;
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

  /** Call when it has answered a statement sent at that time: then it is not down, unless it stopped since. */
  answered(sentAt: number): void {
    if (this.#downSince !== undefined && sentAt > this.#downSince && !this.isSilent) this.#isUp();
  }

  /** Also gives up what it has not answered, if it may never answer: the pool waits for it. */
  close(): void {
    this.#closed = true;
    if (this.isSilent || this.#asking) for (const statement of this.sent) statement.cut();
  }

  async #ask(): Promise<void> {
    let pauseMs = firstPauseMs;
    do {
      const answer = await this.questions.ask(this);
      if (this.#closed) return;
      if (answer === 'answers') this.#isUp();
      else if (answer !== undefined) this.#isNot(answer);
      if (!this.isDown) return;
      await delay(pauseMs, { ref: false });
      pauseMs = Math.min(pauseMs * 1.5, longestPauseMs);
    } while (this.isDown && !this.#closed);
  }

  #isNot(answer: 'refuses' | 'silent'): void {
    this.isSilent = answer === 'silent';
    if (this.isSilent) for (const statement of this.sent) statement.cut();
    if (this.isDown) return;
    this.#downSince = performance.now();
    this.questions.onChange(this);
  }

  #isUp(): void {
    if (!this.isDown) return;
    this.#downSince = undefined;
    this.isSilent = false;
    this.questions.onChange(this);
  }
}
