import { OpenAPIHono } from '@hono/zod-openapi';
import type { Principal } from '../base/access/principal.ts';
import type { Library } from '../features/library/library.ts';
import { LanefoldError } from '../base/errors.ts';
import { omitUndefined } from '../base/common/json.ts';
import { actFor } from './access/act-for.ts';
import { authorizeOperation } from './access/authorize-operation.ts';
import { knownKeys } from './access/known-keys.ts';
import { limitStreams } from './access/limit-streams.ts';
import { accessAmong } from './access/scopes.ts';
import { requireUnbound } from './access/require-unbound.ts';
import { authenticate } from './auth.ts';
import { jsonBody, jsonIfAny, limitedBody } from './body.ts';
import { defaultBodyTimeoutMs, defaultMaxBodyBytes } from './read-body.ts';
import { limitedAnswer } from './answer.ts';
import { ByteBudget } from './byte-budget.ts';
import { bullBoard, bullBoardPath } from './bull-board/board.ts';
import { addDocs } from './docs.ts';
import { nouns } from './declared/nouns.ts';
import { addNouns } from './declared/routes.ts';
import type { Door } from './door.ts';
import type { ApiApp, ApiEnv } from './env.ts';
import { handlersOf } from './handlers/handlers.ts';
import { allowedMethods, withoutSlash } from './allowed-methods.ts';
import { LiveStreams } from './live-streams.ts';
import { logErrors, withSafePath } from './log-errors.ts';
import { nameSchemas } from './openapi.ts';
import type { AppOptions } from './options.ts';
import { addPage } from './page/routes.ts';
import { problemHeaders, toProblem } from './problem.ts';
import { requestCounter } from './request-counter.ts';
import { addSignedEvents, byEventToken, signedEventsPath } from './routes/signed-events.ts';
import { addMcp, mcpPath } from './routes/mcp.ts';
import { addMetrics, addProbes } from './routes/operations.ts';
import { streamServer } from './serve-stream.ts';
import { noStore, securityHeaders } from './security-headers.ts';
import { assertWhole } from '../base/checks/values.ts';
import { onInvalid, refuseQueries } from './validation.ts';

const defaultMaxHeldBytes = 64 * 1024 * 1024;
const defaultMaxStreams = 1_000;
const defaultKeyRecheckMs = 5_000;
const minKeyRecheckMs = 100;

/**
 * The application behind `startServer`, mountable wherever a `fetch` handler is accepted. Without a key it only answers
 * requests with a loopback Host.
 */
export function createAppWith(
  doors: readonly Door[],
  all: Library,
  options: AppOptions & { closing?: AbortSignal } = {},
): ApiApp {
  const lanefold = options.tenant === undefined ? all : { ...all, ...all.forTenant(options.tenant) };
  const apiKey = (options.apiKey ?? process.env['LANEFOLD_API_KEY']) || undefined;
  const onError = withSafePath(options.onError ?? logErrors(lanefold.log));
  const app = new OpenAPIHono<ApiEnv>({ defaultHook: onInvalid });
  refuseQueries(app);
  nameSchemas(app);
  const requests = requestCounter();

  app.onError((error, c) => {
    const problem = toProblem(error);
    if (problem.status >= 500) {
      // unset if the request was rejected before its key was read
      const principal = c.get('principal') as Principal | undefined;
      onError(error, { method: c.req.method, path: c.req.path, ...omitUndefined({ actor: principal?.actor }) });
    }
    return c.body(JSON.stringify(problem), problem.status as 500, problemHeaders(problem.status, error));
  });
  app.notFound((c) => {
    const typed = withoutSlash(app, c.req);
    if (typed !== undefined) return c.redirect(typed, 308);
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

  app.use(requests.count, securityHeaders, noStore);
  const { keyRecheckMs = defaultKeyRecheckMs } = options;
  assertWhole(keyRecheckMs, 'keyRecheckMs', {
    minimum: minKeyRecheckMs,
    hint: 'Leave it out for 5,000: every open stream looks up its key this often.',
  });
  const keys = knownKeys(lanefold, keyRecheckMs);
  const byKey = authenticate(apiKey, keys);
  const bySignIn = authenticate(apiKey, keys, { basic: true });
  for (const door of doors) door.addOpen?.(app);
  app.use('/v1/*', byKey);
  app.use('/metrics', byKey, requireUnbound('read'));
  app.use('/admin/*', bySignIn, requireUnbound('admin'));
  app.use('/docs/*', bySignIn);
  app.use('/openapi.json', bySignIn);
  const maxHeldBytes = options.maxHeldBytes ?? defaultMaxHeldBytes;
  const maxBodyBytes = options.maxBodyBytes ?? defaultMaxBodyBytes;
  const read = limitedBody({
    maxBytes: maxBodyBytes,
    timeoutMs: options.bodyTimeoutMs ?? defaultBodyTimeoutMs,
    budget: new ByteBudget(maxHeldBytes, 'bodies'),
  });
  const answers = new ByteBudget(maxHeldBytes, 'answers');
  const answer = limitedAnswer(answers);
  const { before, after } = authorizeOperation(app, lanefold, accessAmong(doors));
  app.use('/v1/*', answer, actFor(lanefold), before, read, jsonBody, after, limitStreams());
  app.use('/admin/*', read, jsonIfAny);
  app.use(mcpPath, byKey, read);
  app.use(signedEventsPath, byEventToken(lanefold), read, jsonBody);

  const maxStreams = options.maxStreams ?? defaultMaxStreams;
  const streamed = new ByteBudget(maxHeldBytes, 'streams');
  const live = { onError, closing: options.closing, maxStreams, budget: streamed, keyRecheckMs };
  const streams = new LiveStreams(omitUndefined(live));
  const serve = streamServer(streams);
  for (const door of doors) door.add(app, { lanefold, streams, answers });
  addSignedEvents(app, lanefold);
  addNouns(app, nouns, lanefold, handlersOf(app, lanefold, streams, serve, onError));
  addProbes(app, lanefold);
  addDocs(app);
  if (options.mcp) addMcp(app, lanefold, options.mcp, { answers, closing: options.closing });
  const page = options.page ?? process.env['LANEFOLD_PAGE'] !== 'off';
  if (page) addPage(app, apiKey ? undefined : byKey);
  if (lanefold.tenant === undefined) {
    addMetrics(app, lanefold, requests);
    app.route(bullBoardPath, bullBoard(lanefold, { page }));
  }
  return app;
}
