import tseslint from 'typescript-eslint';

const noTimer =
  'Use src/common/timer.ts: a timer of the platform waits for at most 2^31 - 1 ms, and a longer one is over at once.';

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
    files: ['src/**', 'workers/**'],
    ignores: ['src/common/timer.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          'CallExpression[callee.name=/^set(Timeout|Interval)$/]',
          'CallExpression[callee.object.name=/^(globalThis|window|self)$/][callee.property.name=/^set(Timeout|Interval)$/]',
          'CallExpression[callee.object.name="AbortSignal"][callee.property.name="timeout"]',
          'ImportDeclaration[source.value=/^(node:)?timers/] ImportSpecifier[imported.name!="setImmediate"]',
          'ImportDeclaration[source.value=/^(node:)?timers/] :matches(ImportDefaultSpecifier, ImportNamespaceSpecifier)',
          'ImportDeclaration[source.value="p-timeout"]',
        ].map((selector) => ({ selector, message: noTimer })),
      ],
    },
  },
  {
    // Runs in browsers: nothing of Node, and no package but React.
    files: ['src/client/**', 'src/react/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^(?!\\.\\.?/|react$)', message: 'Not in a browser.' }] },
      ],
    },
  },
  {
    // Strategies are pure: they may know messages and events, never I/O.
    files: ['src/strategies/**', 'src/context/fold.ts'],
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
            '**/runtime/**',
            '**/queue/**',
            '**/postgres/**',
          ],
        },
      ],
    },
  },
);
