import { z } from 'zod';
import { noun } from '../../../base/operations/operation.ts';
import { after, count, Id, jsonObject, limit, named, pageOf, whole } from '../../../base/operations/schemas.ts';
import { Call, RunStatus } from '../../../database/store/run/declaration.ts';
import { PendingWait } from '../../../database/store/wait/declaration.ts';

const WaitPage = pageOf('WaitPage', PendingWait);

const Resolution = named(
  'Resolution',
  z
    .strictObject({
      result: z.unknown().optional().describe('The result of the call: text or JSON; default null.'),
      error: z.string().min(1).max(2_000).optional().meta({
        description: 'The call fails with this message instead.',
        doc: 'Instead of a result: the call fails with this message, which the model reads.',
      }),
      by: z
        .string()
        .min(1)
        .max(1_000)
        .optional()
        .meta({ description: 'Who resolved it.', doc: 'Who resolves it, for the log.' }),
    })
    .meta({ example: { result: { paid: true }, by: 'ada' } }),
);

export const ResolvedWait = named(
  'ResolvedWait',
  z.object({
    resolved: z.boolean().describe('false: the wait had ended before, and nothing changed.'),
    wait: z
      .enum(['resolved', 'expired', 'overridden', 'abandoned'])
      .describe('How the wait ended; `overridden`: by hand.'),
    status: RunStatus.describe('The status of the run: `suspended` while other calls wait.'),
  }),
);

export const waits = noun('waits', 'Waits', {
  list: {
    id: 'listWaits',
    client: true,
    route: 'GET /v1/waits',
    scope: 'read',
    summary: 'List the tool calls that wait for an event, a time or another run, oldest first',
    description: 'Calls that wait for approval are at `/v1/approvals`.',
    doc: 'Calls that wait for an event, a time or another run, oldest first. See `approvals.list` for the others.',
    query: {
      after,
      limit: limit(50),
      event: Id.optional().describe('Only waits for this event.'),
      kind: PendingWait.shape.kind.optional(),
    },
    own: { threadId: Id.optional() },
    answer: { description: 'A page of waits.', schema: WaitPage },
  },
  resolve: {
    id: 'resolveWait',
    client: true,
    route: 'POST /v1/threads/{thread_id}/runs/{run_id}/tool-calls/{call}/resolve',
    scope: 'steer',
    audit: 'end_wait',
    summary: 'Resolve a tool call that waits',
    description:
      'Gives the call a result, or an error, instead of what it waits for. A run that it waits for is cancelled. The run ' +
      'continues once none of its calls waits.',
    params: { call: Call },
    body: Resolution,
    bodyIs: 'options',
    own: { extraRefs: jsonObject('Kept in the `refs` of the result’s message.').optional() },
    answer: { description: 'How the wait ended.', schema: ResolvedWait },
    errors: ['run_not_found', 'tool_call_not_found', 'thread_erased', 'invalid_input'],
  },
});

const longestKeepMs = 31_536_000_000;
const keep = whole(0, longestKeepMs).optional();

const NewEvent = named(
  'NewEvent',
  z
    .strictObject({
      payload: z.unknown().optional().describe('Text or JSON, at most 262,144 bytes; default null.'),
      keepMs: keep.meta({
        description: 'How long the event is kept for calls that begin to wait later; default 0.',
        doc:
          'Keeps the event for so many ms, for calls that begin to wait for it later; a later event of the same name replaces ' +
          'it. Default 0: only calls that wait now get it.',
      }),
    })
    .meta({ example: { payload: { amount: 42 }, keepMs: 60_000 } }),
);

export const SentEvent = named(
  'SentEvent',
  z.object({
    event: Id,
    resolved: z
      .array(
        z.object({
          threadId: Id,
          runId: Id,
          call: Call,
          round: count('Tool round of the run, from 1.', 1),
          index: count('Position in the round, from 0.', 0),
        }),
      )
      .describe('The calls whose waits it ended.'),
    kept: z.boolean().describe('Whether it is kept for later waits.'),
  }),
);

const NewEventToken = named(
  'NewEventToken',
  z
    .strictObject({
      expiresMs: whole(1).optional().meta({
        description: 'Default: 30 days. The token also ends with the key that made it.',
        doc: 'After this, the token is refused; default: 30 days.',
      }),
      keepMs: keep.describe('How long the event is kept for calls that begin to wait later; default 0.'),
    })
    .meta({ example: { expiresMs: 86_400_000 } }),
);

const EventToken = named(
  'EventToken',
  z.object({
    token: z.string(),
    path: z.string().meta({
      description: 'A POST to this URL sends the event, with the JSON body as its payload.',
      example: '/signed/events/ev1.…',
    }),
  }),
);

export const events = noun('events', 'Waits', {
  send: {
    id: 'sendEvent',
    client: true,
    route: 'POST /v1/events/{event}',
    scope: 'steer',
    summary: 'Send an event to the tool calls that wait for it',
    description:
      'Each of them gets the payload as its result. For a wait that two events reach at once, the first counts.',
    doc:
      'Sends an event: every call that waits for it gets the payload as its result. For a wait that two events reach at ' +
      'once, the first one counts. Sending it again resolves only calls that wait by then.',
    body: NewEvent,
    bodyIs: 'options',
    positional: ['payload'],
    own: { by: z.string().optional().describe('Who sends it, for the log.') },
    answer: { description: 'The calls that it resolved.', schema: SentEvent },
    errors: ['invalid_id', 'invalid_input', 'invalid_text'],
  },
  token: {
    id: 'createEventToken',
    route: 'POST /v1/events/{event}/tokens',
    scope: 'steer',
    audit: 'here',
    summary: 'Create a signed path with which anyone may send an event',
    doc:
      'A token with which anyone may send this event once or more: `POST /signed/events/<token>`, with the payload as its ' +
      'JSON body. For links in mails and for callbacks of other systems.',
    body: NewEventToken,
    bodyIs: 'options',
    own: {
      keyId: Id.optional().describe(
        'The id of the API key on whose behalf the token is made: once the key is revoked or has expired, the token is refused.',
      ),
    },
    answer: { description: 'The token and its path.', schema: EventToken },
    returns: z.string(),
    errors: ['invalid_id', 'invalid_input', 'missing_token_secret'],
  },
});
