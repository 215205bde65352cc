import type { Library } from '../../features/library/library.ts';
import type { Handlers } from '../declared/routes.ts';
import type { ApiApp } from '../env.ts';
import type { LiveStreams } from '../live-streams.ts';
import type { ServeStream } from '../serve-stream.ts';
import { contextHandlers } from './contexts.ts';
import { evalHandlers } from './evals.ts';
import { eventsHandler } from './events.ts';
import { eventHandlers } from './sent-events.ts';
import { portableHandlers } from './portable.ts';
import type { AppOptions } from '../options.ts';
import { auditHandlers, keyHandlers, limitHandlers } from './access.ts';
import { runHandlers } from './runs.ts';
import { threadHandlers } from './threads.ts';

/** What the API does beside calling the methods of declared operations. */
export const handlersOf = (
  app: ApiApp,
  lanefold: Pick<Library, 'toolNames' | 'stats'>,
  streams: LiveStreams,
  serve: ServeStream,
  onError: NonNullable<AppOptions['onError']>,
): Handlers => ({
  threads: { ...threadHandlers(lanefold), ...portableHandlers(streams), events: eventsHandler(serve) },
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
  },
  runs: runHandlers({ app, serve, onError }),
});
