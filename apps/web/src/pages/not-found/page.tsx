import { Link } from 'react-router'

import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { EmptyState } from '../../components/empty-state.tsx'

import page from '../../styles/page.module.css'

export function NotFoundPage() {
  usePageTitle({ text: 'Not found' })
  return (
    <div className={page['page']}>
      <EmptyState title="There is no such page">
        <p>
          The address may be misspelt.{' '}
          <Link className={page['link']} to={paths.overview}>
            Go to the overview
          </Link>
        </p>
      </EmptyState>
    </div>
  )
}
