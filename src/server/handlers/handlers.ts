import { nouns } from '../declared/nouns.ts';
import { addNouns, type Handlers } from '../declared/routes.ts';
import type { ApiApp } from '../env.ts';
import { streamServer } from '../serve-stream.ts';
import type { Site } from '../site.ts';
import { contextHandlers } from './contexts.ts';
import { evalHandlers } from './evals.ts';
import { eventsHandler } from './trace.ts';
import { eventHandlers } from './app-events.ts';
import { portableHandlers } from './portable.ts';
import { auditHandlers, keyHandlers, limitHandlers } from './access.ts';
import { runHandlers } from './runs.ts';
import { workHandler } from './work.ts';
import { threadHandlers } from './threads.ts';

/** Adds the operations that are declared. */
export function addOperations(app: ApiApp, site: Site): void {
  addNouns(app, nouns, site.lanefold, handlersOf(app, site));
}

/** What the API does beside calling the methods of declared operations. */
function handlersOf(app: ApiApp, { lanefold, streams, onError }: Site): Handlers {
  const serve = streamServer(streams);
  return {
    threads: { ...threadHandlers(app, lanefold), ...portableHandlers(streams), events: eventsHandler(serve) },
    contexts: contextHandlers(app),
    evals: evalHandlers,
    events: eventHandlers,
    audit: auditHandlers,
    keys: keyHandlers,
    limits: limitHandlers,
    library: {
      async activity({ call }) {
        const [stats, activity] = await Promise.all([lanefold.stats(), call()]);
        return { ...stats, ...(activity as object) };
      },
      work: workHandler(lanefold),
    },
    runs: runHandlers({ app, serve, onError }),
  };
}
