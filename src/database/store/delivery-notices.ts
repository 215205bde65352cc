import type { Database } from '../postgres/pool.ts';

/** What a notification says after a commit that noted events; without it, an endpoint was changed. */
export const eventsNoted = 'events';

/**
 * Passes on, after a commit, that deliveries of webhooks are due: to a worker of this process, else to all workers. The
 * sweep finds those whose notice is lost.
 */
export class DeliveryNotices {
  /** What the workers of this process do. */
  readonly dispatchers = new Set<() => void>();
  #sending = false;
  #again = false;

  constructor(private readonly db: Pick<Database, 'query'>) {}

  due(): void {
    const [look] = this.dispatchers;
    if (look) look();
    else if (this.#sending) this.#again = true;
    else void this.#send();
  }

  /** Once for all commits while one is sent. From here also on a distributed database: a node would reach its own sessions. */
  async #send(): Promise<void> {
    this.#sending = true;
    do {
      this.#again = false;
      await this.db
        .query('notify_webhooks', "select pg_notify('lanefold_webhooks', $1)", [eventsNoted])
        .catch(() => {});
    } while (this.#again);
    this.#sending = false;
  }
}

/** Passes on what the answer of a database function says about deliveries. Returns the answer. */
export function noticed<Answer>(db: Pick<Database, 'settings'>, answer: Answer): Answer {
  if (typeof answer === 'object' && answer && 'deliveries' in answer) db.settings.deliveriesDue?.();
  return answer;
}
