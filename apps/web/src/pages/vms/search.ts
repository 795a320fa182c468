import { choiceParam, integerParam, textParam } from '../../model/search-params.ts'

/** What the address of a list of VMs contains after '?'. */
export const vmListSchema = {
  q: textParam(),
  status: choiceParam(['', 'on', 'off', 'suspended', 'unknown', 'creating'], ''),
  sort: textParam('name'),
  row: integerParam(0),
  preview: textParam(),
}
