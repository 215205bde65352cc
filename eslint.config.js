import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const restrict = (selectors, message) => selectors.map((selector) => ({ selector, message }));

const parse = 'MemberExpression[object.name="JSON"][property.name="parse"]';
// a copy of an own value may go through JSON.parse
const json = restrict(
  [
    `CallExpression:not([arguments.0.callee.property.name="stringify"]) > ${parse}.callee`,
    `:not(CallExpression) > ${parse}`,
    `CallExpression > ${parse}.arguments`,
    'MemberExpression[object.name="JSON"][property.value="parse"]',
    'VariableDeclarator[init.name="JSON"]',
    // of requests and responses
    'CallExpression[callee.property.name="json"][arguments.length=0]',
    'ImportDeclaration[source.value=/^(node:)?stream.consumers$/] ImportSpecifier[imported.name="json"]',
  ],
  'Use readJsonBytes of src/base/common/json-bytes.ts for bodies, readJson or parseJson of src/base/common/json.ts for other texts: JSON.parse rounds numbers and takes any depth.',
);

const timers = restrict(
  [
    'CallExpression[callee.name=/^set(Timeout|Interval)$/]',
    'CallExpression[callee.object.name=/^(globalThis|window|self)$/][callee.property.name=/^set(Timeout|Interval)$/]',
    'CallExpression[callee.object.name="AbortSignal"][callee.property.name="timeout"]',
    'ImportDeclaration[source.value=/^(node:)?timers/] ImportSpecifier[imported.name!="setImmediate"]',
    'ImportDeclaration[source.value=/^(node:)?timers/] :matches(ImportDefaultSpecifier, ImportNamespaceSpecifier)',
    'ImportDeclaration[source.value="p-timeout"]',
  ],
  'Use src/base/common/timer.ts: a timer of the platform waits for at most 2^31 - 1 ms, and a longer one is over at once.',
);

const aborts = restrict(
  ['CallExpression[callee.property.name="addEventListener"][arguments.0.value="abort"]'],
  'Use src/base/common/timer.ts: a listener is not called if the signal has aborted before.',
);

const clocks = restrict(
  [
    'CallExpression[callee.object.name="Date"][callee.property.name="now"]',
    'NewExpression[callee.name="Date"][arguments.length=0]',
    'CallExpression[callee.name="Date"]',
  ],
  'Use db.settings.clock; or src/base/common/timer.ts, if the time concerns this process alone.',
);

const builtPatterns = restrict(
  [
    ':matches(NewExpression, CallExpression)[callee.name="RegExp"]',
    'CallExpression[callee.property.name=/^(match|matchAll|search)$/] > :matches(TemplateLiteral, Literal:not([regex])).arguments',
  ],
  'Write the pattern down, so that it can be checked, or build it in src/base/redaction/sensitive-keys.ts.',
);

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.lanefold/'] },
  ...tseslint.configs.recommended,
  {
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-restricted-imports': 'off',
    },
  },
  {
    // Text of strangers must not block a process: a pattern takes linear time, also to find out that it does not match.
    files: ['src/**', 'page/**', 'workers/**', 'examples/**'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      // a sticky pattern is tried at one place
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false, ignoreSticky: true }],
    },
  },
  {
    files: ['src/**', 'workers/**'],
    rules: { 'no-restricted-syntax': ['error', ...json, ...timers, ...aborts, ...builtPatterns] },
  },
  {
    // Only the clock of the database decides when something is due.
    files: ['src/**', 'workers/**'],
    ignores: [
      'src/base/common/timer.ts',
      // tools and programs of one process, spans, and what other systems ask for by their clocks
      'src/ops/{bench,chaos,cli}/**',
      'src/doors/{client,react}/**',
      'src/runs/telemetry/**',
      'src/agent/models/classify-error.ts',
      'src/server/metrics.ts',
      'src/doors/durable-streams/protocol.ts',
      'src/runs/operations/evidence/signed-head.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...json, ...timers, ...aborts, ...clocks, ...builtPatterns] },
  },
  // what the others use instead
  {
    files: ['src/base/common/json.ts', 'src/agent/contracts/validator-thread.js'],
    rules: { 'no-restricted-syntax': ['error', ...timers, ...aborts, ...clocks, ...builtPatterns] },
  },
  // what our server sends has only numbers that doubles hold
  {
    files: ['src/doors/client/**'],
    rules: { 'no-restricted-syntax': ['error', ...timers, ...aborts, ...builtPatterns] },
  },
  {
    files: ['src/base/common/timer.ts'],
    rules: { 'no-restricted-syntax': ['error', ...json, ...builtPatterns] },
  },
  {
    files: ['src/base/redaction/sensitive-keys.ts'],
    rules: { 'no-restricted-syntax': ['error', ...json, ...timers, ...aborts, ...clocks] },
  },
  {
    // Runs in browsers: nothing of Node, and no package but React.
    files: ['src/doors/client/**', 'src/doors/react/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^(?!\\.\\.?/|react$)', message: 'Not in a browser.' }] },
      ],
    },
  },
  {
    // Strategies are pure: they may know messages and events, never I/O.
    files: ['src/agent/strategies/**', 'src/agent/context/fold.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            'node:*',
            'pg',
            'bullmq',
            'ioredis',
            'drizzle-orm*',
            '**/database/**',
            '**/runs/**',
            '**/worker/**',
          ],
        },
      ],
    },
  },
);
