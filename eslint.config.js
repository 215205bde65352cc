import tseslint from 'typescript-eslint';

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
    // JSON.parse rounds numbers and takes any depth: see src/common/json.ts. A copy of an own value may go through it, and in
    // the client what our server sends, which has only numbers that doubles hold.
    files: ['src/**'],
    ignores: ['src/common/json.ts', 'src/client/**', 'src/contracts/validator-thread.js'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "CallExpression[callee.object.name='JSON'][callee.property.name='parse']:not([arguments.0.callee.property.name='stringify'])",
          message: 'Use readJson or parseJson of src/common/json.ts.',
        },
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
