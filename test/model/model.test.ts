// @module-tag long
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { canCheck, lineModel, search, type Search } from './spin.ts';

const lane = ['LANE', 'FAULTS=1'];
const caller = ['LANE', 'CALLER', 'FAULTS=1'];
const calm = ['LANE', 'CALLER', 'FAULTS=0'];
const child = ['CHILD', 'FAULTS=1'];
const limit = ['LIMIT', 'STEPS=1', 'FAULTS=1'];
const batch = ['BATCH', 'FAULTS=1'];

const line = { source: lineModel };

const page = readFileSync('docs/reference/proofs.md', 'utf8');

const print = (what: string, { states, depth, broken }: Search, since: number) =>
  console.log(
    `${what}: ${states.toLocaleString('en')} states, depth ${depth}, ${((performance.now() - since) / 1000).toFixed(1)} s` +
      (broken ? `, breaks ${broken}` : ''),
  );

describe.skipIf(!canCheck())('the model of runs', () => {
  const keepsEveryPromise = async (world: string, definitions: string[]) => {
    const since = performance.now();
    const found = await search(definitions, { short: world === 'batches' });
    print(world, found, since);
    expect(found.broken).toBeUndefined();
    expect(page).toMatch(new RegExp(`\\| ${found.states.toLocaleString('en')} +\\| ${found.depth} +\\|`));
  };
  test.each([
    ['a child run', child],
    ['a limit', limit],
    ['batches', batch],
  ])('keeps every promise: %s', keepsEveryPromise);

  // millions of states
  test.each([
    ['two runs on one thread, two faults', ['LANE', 'FAULTS=2']],
    ['two runs on one thread and another caller', caller],
    ['a child run and another caller', ['CALLER', ...child]],
  ])('keeps every promise: %s', { tags: 'long' }, keepsEveryPromise);

  test.each([
    ['two runs on one thread', lane],
    ['a child run', ['CHILD', 'FAULTS=0']],
    ['a limit', ['LIMIT', 'STEPS=1', 'FAULTS=0']],
    ['batches', ['BATCH', 'FAULTS=0']],
  ])('ends every accepted run: %s', async (world, definitions) => {
    const since = performance.now();
    const found = await search(definitions, { cycles: true, short: true });
    print(`${world}, for ever`, found, since);
    expect(found.broken).toBeUndefined();
    expect(found.states).toBeGreaterThan(300);
  });

  test.each([
    ['FENCE_NOT_COMPARED', 'only_the_holder_commits', lane],
    ['LEASE_NOT_RAISED', 'only_the_holder_commits', lane],
    ['CLAIMS_A_HELD_RUN', 'a_held_run_is_not_taken', lane],
    ['STATUS_NOT_COMPARED', 'an_ended_run_never_changes', calm],
    ['STEP_NOT_COMPARED', 'a_step_is_written_once', lane],
    ['END_NOT_COMPARED', 'a_run_ends_once', calm],
    ['CANCEL_COMES_TOO_LATE', 'a_recorded_cancel_wins', calm],
    ['READ_BEFORE_THE_LOCK', 'seq_has_no_gap_and_no_repeat', calm],
    ['ENDS_WITH_INPUT', 'input_is_in_the_log_once', calm],
    ['TOLD_BEFORE_STORED', 'acknowledged_is_stored', caller],
    ['PROMOTES_AGAIN', 'one_run_is_active_on_a_thread', lane],
    ['PROMOTED_LATER', 'every_accepted_run_has_ended', lane],
    ['SWEEP_TRUSTS_THE_QUEUE', 'every_accepted_run_has_ended', lane],
    ['WAIT_NOT_COMPARED', 'a_parent_is_told_once', child],
    ['MARKED_BEFORE_TOLD', 'every_accepted_run_has_ended', child],
    ['SUSPENDS_BLINDLY', 'every_accepted_run_has_ended', child],
    ['RESERVATION_RETURNS_TWICE', 'reservations_are_conserved', limit],
    ['SETTLES_UNREAD', 'usage_is_settled_once', limit],
    ['BATCH_FAILS_AS_ONE', 'acknowledged_is_stored', batch],
  ])('fails without a rule: %s breaks %s', async (variant, property, definitions) => {
    const since = performance.now();
    const found = await search([...definitions, variant], { short: true });
    print(variant, found, since);
    expect(found.broken).toBe(property);
    expect(page).toMatch(new RegExp(`\\| \`${variant}\` +\\| \`${property}\` +\\|`));
  });

  test.each(['PROMOTED_LATER', 'SWEEP_TRUSTS_THE_QUEUE'])(
    'leaves a run for ever without a rule: %s',
    async (variant) => {
      const found = await search([...lane, variant], { cycles: true, short: true });
      expect(found.broken).toBe('every_accepted_run_ends');
    },
  );
});

describe.skipIf(!canCheck())('the model of the line', () => {
  test.each([
    ['two limits, with a fault', ['LIMITS=2', 'FAULTS=1']],
    ['three limits', ['LIMITS=3']],
  ])(
    'exceeds no limit, lets no run be overtaken, and gives every run its turn: %s',
    { tags: 'long' },
    async (world, definitions) => {
      const since = performance.now();
      const found = await search(definitions, line);
      print(world, found, since);
      expect(found.broken).toBeUndefined();
      expect(page).toMatch(new RegExp(`\\| ${found.states.toLocaleString('en')} +\\| ${found.depth} +\\|`));
    },
  );

  test('ends every run, without a sweep', async () => {
    const since = performance.now();
    const found = await search(['LIMITS=2'], { ...line, cycles: true });
    print('two limits, for ever', found, since);
    expect(found.broken).toBeUndefined();
    expect(found.states).toBeGreaterThan(300);
  });

  test.each([
    ['FORGETS_THE_ORDER', 'no_run_is_overtaken', ['FAULTS=0']],
    ['CHECKS_BEFORE_COMMIT', 'every_run_gets_its_turn', ['FAULTS=0']],
    ['LEAVES_SILENTLY', 'every_run_gets_its_turn', ['FAULTS=1']],
  ])('fails without a rule: %s breaks %s', async (variant, property, definitions) => {
    const found = await search(['LIMITS=2', ...definitions, variant], { ...line, short: true });
    expect(found.broken).toBe(property);
    expect(page).toMatch(new RegExp(`\\| \`${variant}\` +\\| \`${property}\` +\\|`));
  });
});
