import { OpenAPIHono } from '@hono/zod-openapi';
import type { Library } from '../library/library.ts';
import { errorStatus, LanefoldError } from '../errors.ts';
import { requireKey } from './auth.ts';
import { limitedBody, jsonBody } from './body.ts';
import { bullBoard, bullBoardPath } from './bull-board/board.ts';
import { addDocs } from './docs.ts';
import type { ApiApp, ApiEnv } from './env.ts';
import { allowedMethods } from './allowed-methods.ts';
import type { AppOptions } from './options.ts';
import { problemHeaders, toProblem } from './problem.ts';
import { requestCounter } from './request-counter.ts';
import { addApprovals } from './routes/approvals.ts';
import { addContexts } from './routes/contexts.ts';
import { addEntries } from './routes/entries.ts';
import { addEvents } from './routes/events.ts';
import { addInputs } from './routes/inputs.ts';
import { addMetrics, addProbes } from './routes/operations.ts';
import { omitUndefined } from './routes/shared.ts';
import { addRuns } from './routes/runs.ts';
import { addCheckpoints } from './routes/checkpoints.ts';
import { addThreads } from './routes/threads.ts';
import { onInvalid } from './validation.ts';

const defaultMaxBodyBytes = 4 * 1024 * 1024;

/**
 * The application behind `startServer`, mountable wherever a `fetch` handler is accepted. Without a key it only answers
 * requests with a loopback Host.
 */
export function createApp(all: Library, options: AppOptions & { closing?: AbortSignal } = {}): ApiApp {
  const lanefold = options.tenant === undefined ? all : { ...all, ...all.forTenant(options.tenant) };
  const apiKey = (options.apiKey ?? process.env['LANEFOLD_API_KEY']) || undefined;
  const onError = options.onError ?? logError;
  const app = new OpenAPIHono<ApiEnv>({ defaultHook: onInvalid });
  const requests = requestCounter();

  app.onError((error, c) => {
    const problem = toProblem(error);
    if (problem.status >= 500) onError(error, { method: c.req.method, path: c.req.path });
    return c.body(JSON.stringify(problem), problem.status as 500, problemHeaders(problem.status));
  });
  app.notFound((c) => {
    const allowed = allowedMethods(app, c.req.path);
    if (allowed.length === 0) {
      throw new LanefoldError('not_found', `${c.req.path.slice(0, 200)} does not exist.`, {
        hint: 'See /openapi.json for all paths.',
      });
    }
    c.header('Allow', allowed.join(', '));
    throw new LanefoldError('method_not_allowed', `${c.req.method} is not allowed here.`, {
      hint: `Use ${allowed.join(' or ')}.`,
    });
  });

  app.use(requests.count);
  const byKey = requireKey(apiKey);
  const bySignIn = requireKey(apiKey, { basic: true });
  app.use('/v1/*', byKey);
  app.use('/metrics', byKey);
  app.use('/admin/*', bySignIn);
  app.use('/docs/*', bySignIn);
  app.use('/openapi.json', bySignIn);
  app.use(limitedBody(options.maxBodyBytes ?? defaultMaxBodyBytes));
  app.use('/v1/*', jsonBody);

  addThreads(app, lanefold);
  addEntries(app, lanefold);
  addContexts(app, lanefold);
  addRuns(app, lanefold);
  addInputs(app, lanefold);
  addCheckpoints(app, lanefold);
  addApprovals(app, lanefold);
  addEvents(app, lanefold, omitUndefined({ onError, closing: options.closing }));
  addProbes(app, lanefold);
  addDocs(app);
  if (lanefold.tenant === undefined) {
    addMetrics(app, lanefold, requests);
    app.route(bullBoardPath, bullBoard(lanefold));
  }
  return app;
}

function logError(error: unknown, { method, path }: { method: string; path: string }): void {
  if (!(error instanceof LanefoldError) || errorStatus[error.code] === 500) {
    console.error(`lanefold: ${method} ${path}:`, error);
    return;
  }
  const cause =
    error.cause === undefined ? '' : ` (${error.cause instanceof Error ? error.cause.message : String(error.cause)})`;
  console.error(`lanefold: ${method} ${path}: ${error.code}: ${error.message}${cause}`);
}
