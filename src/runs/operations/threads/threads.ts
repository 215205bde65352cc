import { assertId } from '../../../base/checks/ids.ts';
import { rejecting } from '../../../base/common/promises.ts';
import { checked, checkOptions } from '../../../base/operations/checked.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';
import { readThreadEvents } from '../../../database/store/trace/read-events.ts';
import type { Streams } from '../../streams/open.ts';
import type { EnqueueDeps } from '../runs/enqueue-options.ts';
import { branch, branchesOf, placeOfRun, treeOf } from './branch.ts';
import { configure, laneConfig } from './config.ts';
import { fork } from './create.ts';
import { erase, type Erasing } from './erase.ts';
import { eraseTenant } from './erase.ts';
import { importSource } from './import.ts';
import { agUiSnapshot } from './ag-ui-snapshot.ts';
import { append } from './append.ts';
import { create } from './create.ts';
import { AgUiSnapshotOptions, EntriesOptions, EventsOptions, ImportOptions, threads } from './declaration.ts';
import type { Threads } from './methods.ts';
import { contentOf, entriesOf, entryPage, getThread, marksOf, pageOfThreads } from './read-threads.ts';
import { questionOf, runOf, uiMessages, waitingBranch } from './ui-messages.ts';

export interface ThreadsDependencies extends Pick<Erasing, 'keepers'> {
  accepting: EnqueueDeps;
  streams: Pick<Streams, 'follow'>;
}

export function threadsOf({ accepting, streams, keepers }: ThreadsDependencies): Threads {
  const { db, agents, counting, queue } = accepting;
  const erasing = { db, queue, keepers };
  return checked<Threads>(threads, {
    create: (options) => create(db, agents, options),
    fork: (parent, options) => fork(db, agents, parent, options),
    branch: (id, options, by) => branch(accepting, id, options, by),
    branches: (id) => branchesOf(db, id),
    tree: (id, options) => treeOf(db, id, options),
    get: (id) => getThread(db, counting, id),
    async peek(id) {
      assertId(id, 'The thread id');
      return readThread(db, id);
    },
    list: (filter) => pageOfThreads(db, counting, filter),
    marks: (id, runIds) => marksOf(db, id, runIds),
    append: (id, entries, options) => append(db, id, entries, options),
    async entries(id, options) {
      checkOptions('threads.entries', EntriesOptions, options);
      return entriesOf(db, id, options);
    },
    entryPage: (id, options) => entryPage(db, id, options),
    readContent: (id, contentId, range) => contentOf(db, id, contentId, range),
    uiMessages: (id, options) => uiMessages(db, id, options),
    runOf: (id, messageId, contextRef) => runOf(db, id, messageId, contextRef),
    waitingBranch: (id) => waitingBranch(db, id),
    questionOf: (id, messageId) => questionOf(db, id, messageId),
    placeOfRun: (id, run, contextRef) => placeOfRun(db, id, run, contextRef),
    async agUiSnapshot(id, options) {
      checkOptions('threads.agUiSnapshot', AgUiSnapshotOptions, options);
      return agUiSnapshot(db, id, options);
    },
    config: (id, options) => laneConfig(db, id, options),
    configure: (id, changes, options) => configure({ db, agents, counting }, id, changes, options),
    async events(id, options = {}) {
      checkOptions('threads.events', EventsOptions, options);
      assertId(id, 'The thread id');
      return readThreadEvents(db, id, options.after ?? -1, options.limit ?? 100);
    },
    // the stream checks its options when it opens
    stream: (id, options) => rejecting(streams.follow(id, undefined, options), options?.signal),
    async *export(id) {
      assertId(id, 'The thread id');
      const { writeExport } = await import('../../formats/portable/write-export.ts');
      yield* writeExport(db, id);
    },
    async import(source, options = {}) {
      checkOptions('threads.import', ImportOptions, options);
      return importSource(db, agents, source, options);
    },
    erase: (id) => erase(erasing, id),
    eraseTenant: (tenantId, options) => eraseTenant(erasing, tenantId, options),
  });
}
