import { newId, type Connection } from './connection.ts';
import type { FeedbackReceipt, GivenFeedback, ListFeedbackQuery, NewFeedback } from './operations.ts';
import type { CallOptions, Page } from './types.ts';

/** What people think of answers. */
export interface ClientFeedback {
  /**
   * Says what a person thinks of an answer. Without `opId`, a key is generated.
   *
   * @throws LanefoldClientError `thread_not_found`, `invalid_input`
   *
   * @example
   * await client.feedback.give('support-42', { runId: run.id, rating: 'down', comment: 'That is another order.' });
   */
  give(threadId: string, feedback: NewFeedback, call?: CallOptions): Promise<FeedbackReceipt>;
  /** The newest first. */
  list(query?: ListFeedbackQuery, call?: CallOptions): Promise<Page<GivenFeedback>>;
}

export const feedbackOf = (connection: Connection): ClientFeedback => ({
  give: (threadId, feedback, { signal } = {}) =>
    connection.call('giveFeedback', { params: { threadId }, body: { opId: newId('op'), ...feedback }, signal }),
  list: (query = {}, { signal } = {}) => connection.call('listFeedback', { query, signal }),
});
