type Answers = Record<string, (details: never) => unknown>;

interface Question {
  id: number;
  question: string;
  details: never;
}

/** The options that `startProcess` gave to this process. */
export const givenOptions = <Options>(): Options => JSON.parse(process.env['BENCH_OPTIONS']!) as Options;

/**
 * Answers the questions of the process that started this one, which first asks whether this one is `ready`. It must not
 * outlive that process.
 */
export function serve(answers: Answers & { ready?: () => unknown; stop: () => unknown }): void {
  const asked: Answers = { ready: () => true, ...answers };
  process.on('message', ({ id, question, details }: Question) => {
    void Promise.resolve()
      .then(() => asked[question]!(details))
      .then(
        (value) => process.send?.({ id, answer: value ?? null }),
        (error: unknown) => process.send?.({ id, error: error instanceof Error ? error.stack : String(error) }),
      );
  });
  process.on('disconnect', () => process.exit());
}
