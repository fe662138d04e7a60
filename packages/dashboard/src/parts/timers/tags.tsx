/** The tags of a timer, each a link to the timers that have it. Long ones are clipped; the title has them in full. */

export function Tags({ tags }: { readonly tags: readonly string[] | undefined }) {
  if (tags === undefined || tags.length === 0) return <>–</>;
  return (
    <span class="tags">
      {tags.map((tag) => (
        <a key={tag} class="tag" title={tag} href={`#/timers?tag=${encodeURIComponent(tag)}`}>
          <bdi>{tag}</bdi>
        </a>
      ))}
    </span>
  );
}
