import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { variables } from '../../../src/ops/cli/help.ts';
import { code, plain, sentence, table } from './markdown.ts';

/** The interfaces that declare options, by the function that takes them. */
const declared = {
  createLanefold: ['src/lanefold/options.ts', 'LanefoldOptions'],
  startWorker: ['src/worker/process/options.ts', 'WorkerOptions'],
  startServer: ['src/server/options.ts', 'ServerOptions'],
} as const;

/** The options of an interface and of those it extends, each with its comment. */
function optionsOf(file: string, name: string): [string, string][] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found = source.statements.find(
    (statement): statement is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(statement) && statement.name.text === name,
  );
  if (!found) throw new Error(`${file} has no interface ${name}.`);
  const parents = (found.heritageClauses ?? []).flatMap(({ types }) => types.map((type) => type.expression.getText()));
  const own = found.members.map((member): [string, string] => {
    const comments = ts.getJSDocCommentsAndTags(member).map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '');
    return [member.name!.getText(), comments.join(' ').replaceAll(/\s+/g, ' ')];
  });
  return [...own, ...parents.flatMap((parent) => optionsOf(file, parent))];
}

/** The parts of docs/reference/settings.md. */
export function settingParts(): Record<string, string> {
  const names = (list: string) =>
    list
      .split(', ')
      .map((name) => (name === '…' ? name : code(name)))
      .join(', ');
  const environment = Object.entries(variables).map(([list, said]) => [names(list), sentence(plain(said))]);
  const options = Object.entries(declared).map(([call, [file, name]]) => [
    call,
    table(
      ['option', 'meaning and default'],
      optionsOf(file, name).map(([option, said]) => [code(option), sentence(said)]),
    ),
  ]);
  return { environment: table(['variable', 'meaning and default'], environment), ...Object.fromEntries(options) };
}
