import path from 'node:path';
import { configToChange, externalPackages, type Done } from './add.ts';
import type { PackageManager, Project } from './detect.ts';
import { endOf } from './files.ts';

const titles = { express: 'Express', hono: 'Hono', fastify: 'Fastify', next: 'Next.js', none: 'no framework' };

/** What was found, what was done and what to do next, as lines. */
export function reportOf(project: Project, done: Done): string[] {
  const { framework, packageManager, managedBy, typescript } = project;
  const width = Math.max(...done.map(([what]) => what.length));
  const language = typescript ? 'TypeScript' : 'JavaScript';
  return [
    `Found ${titles[framework]}, ${packageManager} (${managedBy}) and ${language}.`,
    '',
    ...done.map(([what, did]) => `${what.padEnd(width)}  ${did}`),
    '',
    'Next:',
    ...stepsOf(project).flatMap(([step, ...code], at) => [`${at + 1}. ${step}`, ...code.map((line) => `     ${line}`)]),
    '',
    'Coding agents read node_modules/lanefold/skills/lanefold/SKILL.md first.',
  ];
}

function stepsOf(project: Project): string[][] {
  const { folder, framework, packageManager, base } = project;
  const enter = path.relative('.', folder);
  const config = configToChange(project);
  const routes = framework === 'next' ? `${base}app/api/agents` : `${base}agents/routes.${endOf(project)}`;
  return [
    [`${enter ? `cd ${enter} && ` : ''}${packageManager} install`],
    ...(framework === 'next' || framework === 'none' ? [] : [mount(project)]),
    ...(needsModules(project)
      ? [['Add "type": "module" to package.json if tsx runs your server: in CommonJS, tsx cannot load Lanefold.']]
      : []),
    ...(config ? [[`Add to the object that ${config} exports:`, `${externalPackages},`]] : []),
    [`${run(packageManager)} agents:dev starts PostgreSQL, a worker and a page. Start your own server beside it.`],
    ...(framework === 'none'
      ? [[`Call ask() of ${base}agents/lanefold.${endOf(project)} in your backend, then answer().`]]
      : [
          [
            'Ask, with the port of your server:',
            `curl -s http://localhost:3000${framework === 'next' ? '/api' : ''}/agents ` +
              `-H 'Content-Type: application/json' -d '{"question": "Where is order A-17?"}'`,
          ],
          [`Check who asks in ${routes}: anybody can until then.`],
        ]),
    [
      `In production, set DATABASE_URL, run ${run(packageManager)} agents:migrate at each release, and ` +
        `${run(packageManager)} agents:worker as a process.`,
    ],
  ];
}

/** Node.js loads the package from CommonJS, but tsx does not find a dependency that exports an ES module alone. */
const needsModules = ({ framework, typescript, modules }: Project): boolean =>
  typescript && !modules && framework !== 'next';

const run = (packageManager: PackageManager): string => (packageManager === 'yarn' ? 'yarn' : `${packageManager} run`);

/** The lines that bring the routes into the app. */
function mount(project: Project): string[] {
  const { framework, appFile, base, importEnd, typescript, modules } = project;
  const from = path.posix.relative(path.posix.dirname(appFile ?? `${base}app`), `${base}agents/routes${importEnd}`);
  const specifier = from.startsWith('.') ? from : `./${from}`;
  // a CommonJS file of JavaScript
  const required =
    !typescript && !(appFile ? /\.mjs$/.test(appFile) || (modules && !appFile.endsWith('.cjs')) : modules);
  const lines = {
    express: `app.use('/agents', agentRoutes);`,
    hono: `app.route('/agents', agentRoutes);`,
    fastify: `app.register(agentRoutes, { prefix: '/agents' });`,
  } as Record<string, string>;
  return [
    `Add to ${appFile ?? `the file that makes the ${titles[framework]} app`}:`,
    required ? `const { agentRoutes } = require('${specifier}');` : `import { agentRoutes } from '${specifier}';`,
    lines[framework]!,
  ];
}
