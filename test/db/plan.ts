export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Rows Removed by Filter'?: number;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  Plans?: PlanNode[];
}

/** The row that `explain (format json)` answers with. */
export interface Explained {
  'QUERY PLAN': [{ Plan: PlanNode }];
}

const withChildren = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(withChildren)];

/** Every node of a plan, its root first. */
export const planNodes = (explained: Explained): PlanNode[] => withChildren(explained['QUERY PLAN'][0].Plan);

/** How many rows of a table a plan that was executed has read, by whatever path. */
export const rowsReadOf = (table: string, explained: Explained): number =>
  planNodes(explained)
    .filter((node) => node['Relation Name'] === table)
    .reduce(
      (sum, node) => sum + (node['Actual Rows']! + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']!,
      0,
    );
