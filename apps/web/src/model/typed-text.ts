/** The text after this key, as a text field has it; undefined: the key changes no text. */
export function typedInto(text: string, key: string): string | undefined {
  if (key === 'Backspace') return text.slice(0, -1)
  return key.length === 1 ? text + key : undefined
}
