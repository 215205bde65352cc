import { z } from 'zod';
import { noun } from '../../base/operations/operation.ts';
import { after, count, date, Id, limit, named, orNull, pageOf, text, whole } from '../../base/operations/schemas.ts';

const rating = z.enum(['up', 'down']);
const comment = text(10_000);
const by = text(200);

export const NewFeedback = named(
  'NewFeedback',
  z
    .strictObject({
      answerSeq: whole(0).optional().describe('The message of the assistant, by its `seq`.'),
      runId: Id.optional().describe('Instead of `answer_seq`: the last answer of this run.'),
      rating: rating.optional().describe('Without rating and comment, the person takes back an earlier opinion.'),
      comment: comment.optional(),
      by: by.optional().describe('The person. The last word of each person about an answer counts.'),
      opId: Id.optional().describe('The idempotency key.'),
    })
    .meta({ example: { runId: 'run_1', rating: 'down', comment: 'That is another order.', by: 'customer-7' } }),
);

export const FeedbackReceipt = named(
  'FeedbackReceipt',
  z
    .object({
      seq: count('The entry with the feedback.', 12),
      answerSeq: count('The message of the assistant.', 9),
      runId: orNull(Id.describe('The run that gave the answer.')),
      duplicate: z.boolean().describe('Whether the key was used before: then nothing was written.'),
    })
    .meta({ doc: 'What `feedback.give` wrote.' }),
);

export const GivenFeedback = named(
  'GivenFeedback',
  z
    .object({
      threadId: Id,
      seq: count('The entry with the feedback.', 12),
      answerSeq: count('The message of the assistant.', 9),
      runId: orNull(Id),
      contextRef: Id.describe('The lane of the answer.'),
      rating: orNull(rating),
      comment: orNull(z.string()),
      by: orNull(z.string()),
      at: date('When it was given.'),
      latest: z.boolean().describe('Whether it is the last word of this person about this answer.'),
      agent: orNull(z.string()),
      agentVersion: orNull(z.string()),
    })
    .meta({ doc: 'What a person thinks of an answer.' }),
);

export const feedback = noun('feedback', 'Feedback', {
  give: {
    id: 'giveFeedback',
    client: true,
    route: 'POST /v1/threads/{thread_id}/feedback',
    scope: 'run',
    summary: 'Say what a person thinks of an answer',
    description:
      'Appends an entry of the kind `feedback`, which no model sees. The run gets the mark `liked` or `disliked`, by which lists find it.',
    doc:
      'Notes what a person thinks of an answer, as an entry of the kind `feedback` that no model sees. The run gets the mark ' +
      '`liked` or `disliked`.\n\n' +
      "@example\nawait lanefold.feedback.give('support-42', { runId: run.id, rating: 'down', comment: 'Another order.' });",
    body: NewFeedback,
    bodyIs: 'options',
    idempotencyKey: 'opId',
    answer: { status: 201, description: 'The feedback was written.', schema: FeedbackReceipt, replays: true },
    errors: ['thread_not_found', 'thread_erased', 'idempotency_mismatch', 'invalid_input'],
  },
  list: {
    id: 'listFeedback',
    client: true,
    route: 'GET /v1/feedback',
    scope: 'read',
    summary: 'List feedback, the newest first',
    doc: 'Feedback, the newest first.',
    query: {
      after,
      limit: limit(50),
      threadId: Id.optional().describe('Only of this thread.'),
      runId: Id.optional().describe('Only on answers of this run; with `thread_id`.'),
      agent: text(128).optional().describe('Only on answers of this agent.'),
      rating: rating.optional(),
      latest: z.boolean().optional().describe('true: only the last word of each person about an answer.'),
    },
    answer: { description: 'A page of feedback.', schema: pageOf('FeedbackPage', GivenFeedback) },
    errors: ['invalid_input'],
  },
});
