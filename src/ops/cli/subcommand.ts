import type { Command } from 'commander';
import type { Lanefold } from '../../lanefold/lanefold.ts';
import type { LanefoldDefinition } from '../../lanefold/definition.ts';
import { connect } from './connect.ts';
import { withDatabase, withJson, type ConnectionOptions } from './options.ts';

/** A command of a group that works on a database, such as `lanefold keys list`. */
export const subcommand = (
  group: Command,
  name: string,
  summary: string,
  more: { isDefault?: boolean } = {},
): Command =>
  withJson(withDatabase(group.command(name, more)))
    .summary(summary)
    .description(`${summary[0]!.toUpperCase()}${summary.slice(1)}.`);

/** Connects for the duration of `act`, and starts the embedded database if none is configured or running. */
export async function withLanefold(
  options: ConnectionOptions,
  act: (lanefold: Lanefold) => Promise<void>,
  more: LanefoldDefinition = {},
): Promise<void> {
  const lanefold = await connect(options, { start: true, ...more });
  try {
    await act(lanefold);
  } finally {
    await lanefold.close();
  }
}
