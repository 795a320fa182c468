/** The `sh` blocks of a document in order. A block inside a list is indented like its item. */
export const blocksIn = (text: string): readonly string[] =>
  [...text.matchAll(/^( *)```sh\n([^]*?)^ *```$/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
