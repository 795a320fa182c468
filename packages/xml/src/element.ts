/** One XML element as plain data: built by `element`, parsed by `readXml`, written by the render functions. */
export interface Element {
  /** As written, with its prefix if it has one. */
  readonly name: string
  /** Has no prototype, so that every key is an attribute. */
  readonly attributes: Readonly<Record<string, string>>
  /** Adjacent texts are merged into one string, and no string is empty. */
  readonly children: readonly (Element | string)[]
}
