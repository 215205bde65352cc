/** A drawing on white, under its title. */
export const drawing = (
  size: { width: number; height: number; left: number },
  title: string,
  parts: readonly string[],
) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="${size.left}" y="24" font-size="15">${title}</text>
${parts.join('\n')}
</svg>
`;

/** A line through points such as `1,2`. */
export const line = (points: readonly string[], colour: string): string =>
  `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.5"/>`;

/** The nth name of a legend that begins at a place. */
export const legend = (name: string, colour: string, n: number, at: { x: number; y: number }): string =>
  `<text x="${at.x}" y="${at.y + n * 18}" fill="${colour}">${name}</text>`;
