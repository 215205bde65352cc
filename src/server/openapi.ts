import { OpenAPIHono } from '@hono/zod-openapi';
import { packageVersion } from '../base/environment.ts';
import type { ApiApp, ApiEnv } from './env.ts';
import { Settings } from '../agent/definition/option-forms.ts';
import { PolicyOption } from '../agent/policy/declaration.ts';
import { Id } from '../base/operations/schemas.ts';
import { RunStatus, Usage } from '../database/store/run/declaration.ts';
import { wireSchema } from './declared/wire-schema.ts';
import { refuseInvalid } from './validation.ts';

const info = {
  openapi: '3.1.0',
  info: {
    title: 'Lanefold',
    version: packageVersion(),
    description:
      'Durable runs of LLM agents. A thread is an append-only log; what the model sees is a projection of it. A run is ' +
      'accepted immediately, and a worker executes it. Errors are `application/problem+json` with a stable `code`.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/' }],
  tags: [
    { name: 'Threads', description: 'Conversations and their configuration.' },
    { name: 'Entries', description: 'The log of a thread.' },
    { name: 'Contexts', description: 'What the model sees, and how to change it.' },
    { name: 'Runs', description: 'Requests that agents execute.' },
    { name: 'Events', description: 'The trace of runs.' },
    { name: 'Limits', description: 'Limits of runs, model calls, tokens and money.' },
    { name: 'Keys', description: 'API keys, tokens for browsers, and the audit.' },
    { name: 'Operations', description: 'Probes, metrics, activity and workers.' },
  ],
};

/** An application without routes, whose operations refuse what their schemas do not allow. */
export function emptyApp(): ApiApp {
  const app = new OpenAPIHono<ApiEnv>();
  refuseInvalid(app);
  // others use these with another description: the document would otherwise describe each as the first of its users does
  for (const [name, schema] of Object.entries(named)) app.openAPIRegistry.register(name, wireSchema(schema));
  return app;
}

const named = { Id, RunStatus, Usage, ContextPolicy: PolicyOption, Settings };

/** The OpenAPI document of an application; generated once. */
export function openApiDocument(app: ApiApp): object {
  const known = documents.get(app);
  if (known) return known;
  const registry = app.openAPIRegistry;
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description:
      'LANEFOLD_API_KEY, a key created with `POST /v1/keys`, or a token minted with `POST /v1/tokens`. A server without ' +
      'LANEFOLD_API_KEY requires none and answers only on loopback.',
  });
  const document = app.getOpenAPI31Document(info as never);
  documents.set(app, document);
  return document;
}

const documents = new WeakMap<ApiApp, object>();
