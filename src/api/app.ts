import { OpenAPIHono } from '@hono/zod-openapi';
import type { Library } from '../library/library.ts';
import { errorStatus, LanefoldError } from '../errors.ts';
import { authorizeOperation } from './access/authorize-operation.ts';
import { knownKeys } from './access/known-keys.ts';
import { limitStreams } from './access/limit-streams.ts';
import { requireUnbound } from './access/require-unbound.ts';
import { authenticate } from './auth.ts';
import { limitedBody, jsonBody } from './body.ts';
import { ByteBudget } from './byte-budget.ts';
import { bullBoard, bullBoardPath } from './bull-board/board.ts';
import { addDocs } from './docs.ts';
import type { ApiApp, ApiEnv } from './env.ts';
import { allowedMethods } from './allowed-methods.ts';
import type { AppOptions } from './options.ts';
import { addPage } from './page/routes.ts';
import { problemHeaders, toProblem } from './problem.ts';
import { requestCounter } from './request-counter.ts';
import { addAudit } from './routes/audit.ts';
import { addKeys } from './routes/keys.ts';
import { addApprovals } from './routes/approvals.ts';
import { addCalls } from './routes/calls.ts';
import { addContexts } from './routes/contexts.ts';
import { addEntries } from './routes/entries.ts';
import { addErasure } from './routes/erasure.ts';
import { addUiMessages } from './routes/ui-messages.ts';
import { addEvents } from './routes/events.ts';
import { addInputs } from './routes/inputs.ts';
import { addOperations } from './routes/operations.ts';
import { omitUndefined } from './routes/shared.ts';
import { addOverview } from './routes/overview.ts';
import { addRuns } from './routes/runs.ts';
import { addCheckpoints } from './routes/checkpoints.ts';
import { addThreads } from './routes/threads.ts';
import { securityHeaders } from './security-headers.ts';
import { onInvalid } from './validation.ts';

const defaultMaxBodyBytes = 4 * 1024 * 1024;
export const defaultBodyTimeoutMs = 20_000;
const defaultMaxHeldBytes = 64 * 1024 * 1024;
const defaultMaxStreams = 1_000;

/**
 * The application behind `startServer`, mountable wherever a `fetch` handler is accepted. Without a key it only answers
 * requests with a loopback Host.
 */
export function createApp(lanefold: Library, options: AppOptions & { closing?: AbortSignal } = {}): ApiApp {
  const apiKey = (options.apiKey ?? process.env['LANEFOLD_API_KEY']) || undefined;
  const onError = options.onError ?? logError;
  const app = new OpenAPIHono<ApiEnv>({ defaultHook: onInvalid });
  const requests = requestCounter();

  app.onError((error, c) => {
    const problem = toProblem(error);
    if (problem.status >= 500) onError(error, { method: c.req.method, path: c.req.path });
    return c.body(JSON.stringify(problem), problem.status as 500, problemHeaders(problem.status, error));
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

  app.use(requests.count, securityHeaders);
  const keys = knownKeys(lanefold.keys);
  const byKey = authenticate(apiKey, keys);
  const bySignIn = authenticate(apiKey, keys, { basic: true });
  app.use('/v1/*', byKey);
  app.use('/metrics', byKey, requireUnbound('read'));
  app.use('/admin/*', bySignIn, requireUnbound('admin'));
  app.use('/docs/*', bySignIn);
  app.use('/openapi.json', bySignIn);
  const maxHeldBytes = options.maxHeldBytes ?? defaultMaxHeldBytes;
  const read = limitedBody({
    maxBytes: options.maxBodyBytes ?? defaultMaxBodyBytes,
    timeoutMs: options.bodyTimeoutMs ?? defaultBodyTimeoutMs,
    budget: new ByteBudget(maxHeldBytes, 'bodies'),
  });
  app.use('/v1/*', read, jsonBody, authorizeOperation(app, lanefold), limitStreams());
  app.use('/admin/*', read);

  addThreads(app, lanefold);
  addErasure(app, lanefold);
  addEntries(app, lanefold);
  addUiMessages(app, lanefold);
  addContexts(app, lanefold);
  addCalls(app, lanefold);
  addRuns(app, lanefold);
  addInputs(app, lanefold);
  addCheckpoints(app, lanefold);
  addApprovals(app, lanefold);
  const maxStreams = options.maxStreams ?? defaultMaxStreams;
  const streamed = new ByteBudget(maxHeldBytes, 'streams');
  addEvents(app, lanefold, omitUndefined({ onError, closing: options.closing, maxStreams, budget: streamed }));
  addKeys(app, lanefold);
  addAudit(app, lanefold);
  addOverview(app, lanefold);
  addOperations(app, lanefold, requests);
  addDocs(app);
  const page = options.page ?? process.env['LANEFOLD_PAGE'] !== 'off';
  if (page) addPage(app, apiKey ? undefined : byKey);
  app.route(bullBoardPath, bullBoard(lanefold, { page }));
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
