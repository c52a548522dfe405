every(:day) { rake 'one' }
every 1.day do rake 'two' end
every(:hour) {
  rake 'three'
}
every 10.minutes do
  rake 'four'
end
