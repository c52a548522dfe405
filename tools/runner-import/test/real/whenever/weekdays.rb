set :chronic_options, hours24: true
every :weekday, at: ['9:00', '10:00', '0:30', '4:30'] do
  rake "stock:update"
end
every [:saturday, :sunday], at: '8:50' do
  runner "Weekend.run(platform: 'web')"
end
every 'monday, wednesday', at: '22:00' do
  rake "user:total"
end
every :weekend do
  rake "cleanup"
end
