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
