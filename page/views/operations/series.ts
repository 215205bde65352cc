/** One line of a plot. */
export interface Series {
  label: string;
  /** Name of a colour of the style sheet. */
  colour: string;
  values: number[];
}
