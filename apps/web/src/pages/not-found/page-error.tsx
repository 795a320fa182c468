import { useRouteError } from 'react-router'

import { ErrorState } from '../../components/empty-state.tsx'

import page from '../../styles/page.module.css'

/** A page that failed to load or to render; the shell around it stays usable. */
export function PageError() {
  const thrown = useRouteError()
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  return (
    <div className={page['page']}>
      <ErrorState error={error} onRetry={() => location.reload()} />
    </div>
  )
}
