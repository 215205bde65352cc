import type { Framework, Project } from './detect.ts';

/** The ends of the names of the new files. */
export const endOf = ({ typescript, modules }: Project): string => (typescript ? 'ts' : modules ? 'js' : 'mjs');

/** The new files of a project, by their paths in it. */
export function newFiles(project: Project): Record<string, string> {
  const { base, framework } = project;
  const end = endOf(project);
  const folder = `${base}agents`;
  const files = {
    [`${folder}/agents.${end}`]: agents(project),
    [`${folder}/lanefold.${end}`]: connection(project),
  };
  if (framework === 'none') return files;
  if (framework !== 'next') return { ...files, [`${folder}/routes.${end}`]: routes[framework](project) };
  const api = `${base}app/api/agents`;
  const routeEnd = project.typescript ? 'ts' : 'js';
  return {
    ...files,
    [`${api}/route.${routeEnd}`]: nextAsk(project),
    [`${api}/[threadId]/[runId]/route.${routeEnd}`]: nextAnswer(project),
  };
}

/** A text only in TypeScript. */
const typed = ({ typescript }: Project, text: string): string => (typescript ? text : '');

const agents = (project: Project) => `import { defineAgent, defineLanefold, defineTool } from 'lanefold';

const orders${typed(project, ': Record<string, object>')} = { 'A-17': { item: 'lamp', state: 'shipped' } };

const lookUpOrder = defineTool${typed(project, '<{ orderId: string }>')}({
  name: 'look_up_order',
  description: 'Item and state of an order.',
  // a JSON Schema; a schema of Zod or another library works too
  input: {
    type: 'object',
    properties: { orderId: { type: 'string', description: 'Such as A-17' } },
    required: ['orderId'],
    additionalProperties: false,
  },
  execute: ({ orderId }) => orders[orderId] ?? { error: \`There is no order \${orderId}.\` },
});

export default defineLanefold({
  agents: [
    defineAgent({
      name: 'support',
      // offline and scripted; later 'openai:gpt-5-mini', with OPENAI_API_KEY in the environment
      model: 'scripted:demo',
      instructions: 'You help customers with their orders. Look an order up before you say anything about it.',
      tools: [lookUpOrder],
    }),
  ],
});
`;

const connection = (project: Project) => `import { createLanefold } from 'lanefold';
import definition from './agents${project.importEnd}';

const open = () => createLanefold(definition);
${project.framework === 'next' ? reloading(project) : once(project)}
/** Stores a request and returns at once; a worker executes the run. */
export async function ask(question${typed(project, ': string')}) {
  const { runs } = await lanefold();
  const { threadId, id } = await runs.enqueue({ agent: 'support', input: question });
  return { threadId, id };
}

/** How far a run is, and its result. */
export async function answer(threadId${typed(project, ': string')}, id${typed(project, ': string')}) {
  const { runs } = await lanefold();
  const { status, result, error } = await runs.get({ threadId, id });
  return { status, result, error };
}
`;

const about = `/**
 * Lanefold in this process, opened at the first call: on DATABASE_URL, or on a PostgreSQL that starts in .lanefold. To
 * enqueue in your own transaction: (await lanefold()).runs.enqueue({ … }, { tx }).
 */`;

const once = (project: Project) => `let opened${typed(project, ': ReturnType<typeof open> | undefined')};

${about}
export function lanefold() {
  opened ??= open().catch((error) => {
    opened = undefined; // the next call tries again
    throw error;
  });
  return opened;
}
`;

const reloading = (project: Project) => `// next dev loads this module again after each change
const kept = globalThis${typed(project, ' as typeof globalThis & { lanefold?: ReturnType<typeof open> }')};

${about}
export function lanefold() {
  kept.lanefold ??= open().catch((error) => {
    kept.lanefold = undefined; // the next call tries again
    throw error;
  });
  return kept.lanefold;
}
`;

const warning =
  '// A caller that reaches these routes may ask, and may read a run whose ids are known: check your session first.';

const routes: Record<Exclude<Framework, 'next' | 'none'>, (project: Project) => string> = {
  express: (project) => `import { json, Router${typed(project, ', type ErrorRequestHandler')} } from 'express';
import { isLanefoldError } from 'lanefold';
import { answer, ask } from './lanefold${project.importEnd}';

${warning}
export const agentRoutes = Router();

agentRoutes.post('/', json(), (request, response, next) => {
  ask(request.body?.question).then((run) => response.status(202).json(run)).catch(next);
});

agentRoutes.get('/:threadId/:runId', (request, response, next) => {
  const { threadId, runId } = request.params;
  answer(threadId, runId).then((run) => response.json(run)).catch(next);
});

const refuse${typed(project, ': ErrorRequestHandler')} = (error, _request, response, next) => {
  if (!isLanefoldError(error)) return next(error);
  response.status(error.status).json({ error: error.message, code: error.code });
};
agentRoutes.use(refuse);
`,
  hono: (project) => `import { Hono } from 'hono';
import { isLanefoldError } from 'lanefold';
import { answer, ask } from './lanefold${project.importEnd}';

${warning}
export const agentRoutes = new Hono();

agentRoutes.post('/', async (c) => {
  const body = await c.req.json().catch(() => null);
  return c.json(await ask(body?.question), 202);
});

agentRoutes.get('/:threadId/:runId', async (c) => {
  const { threadId, runId } = c.req.param();
  return c.json(await answer(threadId, runId));
});

agentRoutes.onError((error, c) => {
  if (!isLanefoldError(error)) throw error;
  return c.json({ error: error.message, code: error.code }, error.status${typed(project, ' as 500')});
});
`,
  fastify: (
    project,
  ) => `${typed(project, `import type { FastifyInstance } from 'fastify';\n`)}import { isLanefoldError } from 'lanefold';
import { answer, ask } from './lanefold${project.importEnd}';

${warning}
export async function agentRoutes(app${typed(project, ': FastifyInstance')}) {
  app.post${typed(project, '<{ Body: { question: string } | null }>')}('/', async (request, reply) => {
    const run = await ask(request.body?.question ?? '');
    return reply.code(202).send(run);
  });

  app.get${typed(project, '<{ Params: { threadId: string; runId: string } }>')}('/:threadId/:runId', async (request) => {
    const { threadId, runId } = request.params;
    return answer(threadId, runId);
  });

  app.setErrorHandler((error, _request, reply) => {
    if (!isLanefoldError(error)) return reply.send(error);
    return reply.code(error.status).send({ error: error.message, code: error.code });
  });
}
`,
};

/** The module with `ask` and `answer`, from a route that is `depth` folders below the base. */
const fromRoute = ({ importEnd }: Project, depth: number) => `${'../'.repeat(depth)}agents/lanefold${importEnd}`;

const nextRefuse = (project: Project) => `
function refuse(error${typed(project, ': unknown')}) {
  if (!isLanefoldError(error)) throw error;
  return Response.json({ error: error.message, code: error.code }, { status: error.status });
}
`;

const nextAsk = (project: Project) => `import { isLanefoldError } from 'lanefold';
import { ask } from '${fromRoute(project, 3)}';

${warning}
export async function POST(request${typed(project, ': Request')}) {
  const body = await request.json().catch(() => null);
  return ask(body?.question).then((run) => Response.json(run, { status: 202 }), refuse);
}
${nextRefuse(project)}`;

const nextAnswer = (project: Project) => `import { isLanefoldError } from 'lanefold';
import { answer } from '${fromRoute(project, 5)}';

${warning}
export async function GET(_request${typed(project, ': Request')}, { params }${typed(
  project,
  ': { params: Promise<{ threadId: string; runId: string }> }',
)}) {
  const { threadId, runId } = await params;
  return answer(threadId, runId).then((run) => Response.json(run), refuse);
}
${nextRefuse(project)}`;
