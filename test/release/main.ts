// Everything of a release up to the publication, in a folder: `npm run release -- 0.2.0`. Writes nowhere else and publishes
// nothing; prints what a person still does.
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { closest } from '../../src/base/checks/unknown-keys.ts';
import { checkVersion, copySources, setVersion } from './sources.ts';
import { cutChangelog } from './changelog.ts';
import { steps, stepNames, type StepName } from './steps.ts';

const usage = 'npm run release -- VERSION [--out FOLDER] [--skip STEP] [--repository URL]';

function fail(message: string, hint: string): never {
  console.error(`release: ${message}\nhint: ${hint}`);
  process.exit(2);
}

/** The arguments; a typo is refused with the nearest name. */
function read() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        out: { type: 'string' },
        skip: { type: 'string', multiple: true, default: [] },
        repository: { type: 'string' },
      },
    });
  } catch (error) {
    const given = /'--([\w-]+)/.exec((error as Error).message)?.[1];
    const meant = given && closest(given, ['out', 'skip', 'repository']);
    return fail((error as Error).message.split('. ')[0]!, meant ? `Did you mean --${meant}?` : usage);
  }
}

const { values, positionals } = read();
const [version = '', ...more] = positionals;
if (version === '' || more.length > 0) fail('One version is needed.', usage);
for (const name of values.skip) {
  const meant = closest(name, stepNames);
  if (!stepNames.includes(name as StepName))
    fail(
      `There is no step ${JSON.stringify(name)}.`,
      meant ? `Did you mean ${meant}?` : `Steps: ${stepNames.join(', ')}.`,
    );
}
const out = path.resolve(values.out ?? path.join('.lanefold/release', version));
const problem = checkVersion(version);
if (problem) fail(problem, usage);
mkdirSync(out, { recursive: true });
if (readdirSync(out).length > 0) fail(`${out} is not empty.`, 'Remove it, or name another folder with --out.');

const source = copySources(out);
setVersion(source, version, values.repository);
console.log(`version     ${version}, in a copy of the sources: ${source}`);
const notes = cutChangelog(source, version, path.join(out, 'notes.md'));
console.log(`changelog   ${notes} lines for ${version}: ${path.join(out, 'notes.md')}`);

let failed = 0;
for (const [name, act] of Object.entries(steps)) {
  const done = values.skip.includes(name) ? { skipped: '--skip' } : act({ source, out, version });
  if ('failed' in done) failed += 1;
  const said = 'ok' in done ? done.ok : 'skipped' in done ? `skipped: ${done.skipped}` : `FAILED: ${done.failed}`;
  console.log(`${name.padEnd(10)}  ${said}`);
}

const copied = ['package.json', 'package-lock.json', 'CHANGELOG.md'].join(', ');
console.log(`
What a person does:
1. Have every test pass, also the long ones: npm run test:long, on two versions of Node.js.
2. Copy ${copied} from ${source}, and schema-*.tgz into test/upgrade/releases; commit, and tag v${version}.
3. Have "repository" in package.json name the public repository, which provenance needs, and trust its workflow on npmjs.com.
4. Publish the tested file from that workflow: npm publish ${path.join(out, `lanefold-${version}.tgz`)}
5. Push the image and the tag, publish the site, and announce notes.md.`);
if (failed > 0) process.exitCode = 1;
