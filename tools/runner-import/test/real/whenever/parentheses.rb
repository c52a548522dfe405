every(:hour) do
  rake('stats:hourly')
  runner("Stats.roll(1, 2)")
end
every(1.day, at: '16:54') do
  command("bin/close")
end
