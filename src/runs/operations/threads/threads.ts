import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { rejecting } from '../../../base/common/promises.ts';
import type { Json, JsonObject } from '../../../agent/context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { assertId, newThreadId, assertRefs } from '../../../base/checks/ids.ts';
import { acceptMessage, type MessageInput, assertNotBlank } from '../../../agent/models/accept-content.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import { otherTenant } from '../access/tenant-scope.ts';
import { assertNotHistory } from '../../../database/store/history/reserved.ts';
import { appendEntries } from '../../../database/store/log/append-entries.ts';
import { readEntries } from '../../../database/store/log/read-entries.ts';
import { listThreads } from '../../../database/store/log/list-threads.ts';
import { readMarks } from '../../../database/store/run/read-marks.ts';
import { readThread, createThread, readThreadSpent } from '../../../database/store/log/read-thread.ts';
import { readThreadEvents } from '../../../database/store/trace/read-events.ts';
import type { Streams } from '../../streams/open.ts';
import { assertStorable, promptOf } from '../../../base/checks/text.ts';
import { assertWhole } from '../../../base/checks/whole-number.ts';
import { assertThreadOverrides } from '../runs/allow-overrides.ts';
import { costOf } from '../runs/cost.ts';
import { configure, laneConfig } from './config.ts';
import { fork } from './fork.ts';
import { erase, type Erasing } from './erase.ts';
import { eraseTenant } from './erase-tenant.ts';
import { readContent } from './content.ts';
import { requestHash } from '../runs/enqueue-request.ts';
import { importSource } from './import.ts';
import { agUiSnapshot } from './ag-ui-snapshot.ts';
import { runOf, uiMessages } from './ui-messages.ts';
import type { NewEntry, Threads } from './types.ts';

const pageBytes = 4 * 1024 * 1024;

const maxMarkedRuns = 100;

export interface ThreadsDependencies extends Erasing {
  agents: AgentRegistry;
  counting: Counting;
  streams: Pick<Streams, 'follow'>;
}

export function threadsOf({ db, agents, counting, streams, ...erasing }: ThreadsDependencies): Threads {
  return {
    async create({ id = newThreadId(), tenantId = db.tenant, systemPrompt, metadata } = {}, { from = 'library' } = {}) {
      assertId(id, 'The thread id');
      if (tenantId !== undefined) assertId(tenantId, 'The tenant id');
      if (tenantId !== undefined && db.tenant !== undefined && tenantId !== db.tenant)
        throw otherTenant(tenantId, db.tenant);
      assertStorable({ systemPrompt, metadata }, 'The thread');
      assertThreadOverrides(agents, { systemPrompt }, from);
      return createThread(db, {
        ...{ id, tenantId, metadata },
        systemPrompt: systemPrompt === undefined ? undefined : promptOf(systemPrompt),
      });
    },

    fork: async (parent, options = {}, { from = 'library' } = {}) => fork(db, agents, parent, options, from),

    async get(id) {
      assertId(id, 'The thread id');
      const [thread, spent] = await Promise.all([readThread(db, id), readThreadSpent(db, id)]);
      return { ...thread, ...(await costOf(counting, spent)) };
    },

    async peek(id) {
      assertId(id, 'The thread id');
      return readThread(db, id);
    },

    async list({ limit = 50, ...filter } = {}) {
      if (filter.tenantId !== undefined) assertId(filter.tenantId, 'The tenant id');
      assertStorable(filter, 'The filter');
      const { data, nextAfter } = await listThreads(db.reader, { ...filter, limit });
      const priced = data.map(async ({ spent, ...thread }) => ({ ...thread, ...(await costOf(counting, spent)) }));
      return { data: await Promise.all(priced), nextAfter };
    },

    async marks(id, runIds) {
      assertId(id, 'The thread id');
      for (const runId of runIds) assertId(runId, 'The run id');
      if (runIds.length > maxMarkedRuns) {
        throw new LanefoldError('invalid_input', `Marks of ${runIds.length} runs were requested at once.`, {
          hint: `Request those of at most ${maxMarkedRuns} runs at a time.`,
        });
      }
      const found = await readMarks(db, { threadId: id, runIds });
      if (found.length === 0) await readThread(db, id);
      return found;
    },

    async append(id, entries, options = {}) {
      assertId(id, 'The thread id');
      if (options.idempotencyKey !== undefined) assertId(options.idempotencyKey, 'The idempotency key');
      assertWhole(options.expectedRev, 'expectedRev');
      const drafts = entries.map(toDraft);
      assertStorable(drafts, 'The entries');
      const { expectedRev, idempotencyKey, repair } = options;
      assertNotHistory(
        drafts.map(({ kind }) => kind),
        idempotencyKey,
      );
      const hash = idempotencyKey && requestHash(drafts);
      return appendEntries(db, id, { drafts, expectedRev, idempotencyKey, hash, repair });
    },

    async entries(id, { after = -1, kind, contextRef, limit = 100 } = {}) {
      assertId(id, 'The thread id');
      return (await readEntries(db, id, { after, kind, contextRef, limit })).entries;
    },
    async entryPage(id, { after = -1, kind, contextRef, limit = 100, maxBytes = pageBytes } = {}) {
      assertId(id, 'The thread id');
      const { entries, cut } = await readEntries(db, id, { after, kind, contextRef, limit: limit + 1, maxBytes });
      const page = entries.slice(0, limit);
      return { entries: page, nextAfter: cut || entries.length > limit ? page.at(-1)!.seq : null };
    },

    readContent: (id, contentId, range) => readContent(db, id, contentId, range),
    uiMessages: (id, options) => uiMessages(db, id, options),
    runOf: (id, messageId) => runOf(db, id, messageId),
    agUiSnapshot: (id, options) => agUiSnapshot(db, id, options),
    async config(id, { contextRef, atSeq } = {}) {
      assertId(id, 'The thread id');
      return laneConfig(db, id, contextRef ?? (await readThread(db, id)).activeContextRef, atSeq);
    },
    configure: (id, changes, { from = 'library', by } = {}) =>
      configure(db, agents, counting, id, changes, { from, by }),
    async events(id, { after = -1, limit = 100 } = {}) {
      assertId(id, 'The thread id');
      return readThreadEvents(db, id, after, limit);
    },
    stream: (id, options) => rejecting(streams.follow(id, undefined, options), options?.signal),

    async *export(id) {
      assertId(id, 'The thread id');
      const { writeExport } = await import('../../formats/portable/write-export.ts');
      yield* writeExport(db, id);
    },
    import: (source, options = {}, { from = 'library' } = {}) => importSource(db, agents, source, options, from),

    erase: (id) => erase({ db, ...erasing }, id),
    eraseTenant: (tenantId, { limit } = {}) => eraseTenant({ db, ...erasing }, tenantId, limit),
  };
}

function toDraft(entry: NewEntry): JsonObject {
  if (entry.contextRef !== undefined) assertId(entry.contextRef, 'The context_ref');
  assertRefs(entry.refs);
  const shared = { context_ref: entry.contextRef, refs: entry.refs };
  if (entry.message !== undefined) {
    const message = acceptMessage(entry.message);
    // the database rejects anything that is not a message
    if ((message as Partial<MessageInput> | null)?.role === 'user') assertNotBlank(message.content, 'The message');
    return { kind: 'ai_message', payload: message as unknown as Json, ...shared } as JsonObject;
  }
  const { kind = 'note', payload = {} } = entry;
  assertId(kind, 'The kind');
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload)) {
    throw new LanefoldError('invalid_input', `The payload of an entry of kind ${kind} is not an object.`, {
      hint: 'Pass { … }.',
    });
  }
  return { kind, payload, ...shared } as JsonObject;
}
