/** How many times more cases `npm run test:long` tries than the suite that each change runs. */
const factor = Number(process.env['LANEFOLD_TEST_CASES'] ?? 1);

/** Whether everything is tried, of which each change tries a part. */
export const tryAll = factor > 1;

/** The number of cases that a property test tries, of which each change needs `few`. */
export const cases = (few: number): number => few * factor;
