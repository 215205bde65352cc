import { limitedAnswer } from '../answer.ts';
import { jsonBody, jsonIfAny, limitedBody } from '../body.ts';
import type { ApiApp } from '../env.ts';
import { mcpPath } from '../routes/mcp.ts';
import { byEventToken, signedEventsPath } from '../routes/signed-events.ts';
import { noStore, securityHeaders } from '../security-headers.ts';
import type { Site } from '../site.ts';
import { actFor } from './act-for.ts';
import { authorizeOperation } from './authorize-operation.ts';
import { limitStreams } from './limit-streams.ts';
import { requireUnbound } from './require-unbound.ts';
import { accessAmong } from './scopes.ts';
import { bySignature, unlessSigned, workPath } from './signed-work.ts';

/** What requests pass before their routes: whose they are, what they may do, and how much they may send. */
export function guard(app: ApiApp, site: Site): void {
  const { lanefold, doors, byKey, bySignIn, bodies, answers, requests, workSecrets } = site;
  app.use(requests.count, securityHeaders, noStore);
  for (const door of doors) door.addOpen?.(app);
  app.use(workPath, bySignature(workSecrets));
  app.use('/v1/*', unlessSigned(byKey));
  app.use('/metrics', byKey, requireUnbound('read'));
  app.use('/admin/*', bySignIn, requireUnbound('admin'));
  app.use('/docs/*', bySignIn);
  app.use('/openapi.json', bySignIn);
  const read = limitedBody(bodies);
  const { before, after } = authorizeOperation(app, lanefold, accessAmong(doors));
  app.use('/v1/*', limitedAnswer(answers), actFor(lanefold), before, read, jsonBody, after, limitStreams());
  app.use('/admin/*', read, jsonIfAny);
  app.use(mcpPath, byKey, read);
  app.use(signedEventsPath, byEventToken(lanefold), read, jsonBody);
}
