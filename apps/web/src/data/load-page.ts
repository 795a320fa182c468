import { now } from '../api/clock-and-ids.ts'
import { mayReload } from '../model/reload.ts'

const RELOADED = 'skerry.reloaded'

/** What a user can do where a part of the page did not load. */
export const PART_MISSING =
  'Check the connection and reload the page. If that does not help, the cloud’s servers may have different versions: try again in some minutes.'

/**
 * Loads the code of a page. Where it is missing, another version was deployed: the browser loads the new one, once. Afterwards the error is
 * shown in the page's place.
 */
export async function loadPage<T>(load: () => Promise<T>, reload: () => void): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if (mayReload(sessionStorage.getItem(RELOADED), now())) {
      sessionStorage.setItem(RELOADED, String(now()))
      reload()
      // The document is about to be replaced.
      return new Promise<T>(() => undefined)
    }
    throw new Error(`This page did not load. ${PART_MISSING}`, { cause })
  }
}
