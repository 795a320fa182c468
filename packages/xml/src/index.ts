export { element, renderDocument, renderElement, type AttributeInput, type Child } from './build.ts'
export { withReplacements } from './characters.ts'
export type { Element } from './element.ts'
export {
  attribute,
  child,
  children,
  childrenByLocalName,
  find,
  localName,
  text,
} from './navigate.ts'
export { readXml, type XmlLimits } from './read.ts'
